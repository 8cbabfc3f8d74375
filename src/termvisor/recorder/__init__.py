"""The recorder: a small process that reads pane pipes and appends their bytes to the raw logs.

In: descriptors of pipes, commands of the daemon. Out: segment files and reports of their growth. Read process.py first.
It outlives daemons, so it stays small: it imports built-in modules only.
"""
