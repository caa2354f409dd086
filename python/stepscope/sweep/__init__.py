"""`stepscope sweep`: which settings of a DataLoader are tried, in which order, and what follows.

`command` reads the request of the program `stepscope`, `schedule` spends the budget, `race` says
what to try next, `scores` compares, `runner` starts trials, `finished` reads recorded runs and
`answer` makes tables of all that. What runs in the user's Python is in `trial`.
"""
