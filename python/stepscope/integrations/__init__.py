"""Frameworks, trackers and Anemoi's reports, a module for each; docs/design/0019 tells how.

Importing one imports its framework; importing this imports nothing.
"""
