"""One trial of `stepscope sweep dataloader`: a loader with one setting, made and walked over.

Runs in the user's Python, which need not have stepscope: nothing here imports it.
"""
