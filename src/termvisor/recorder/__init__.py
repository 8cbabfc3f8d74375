"""The recorder: a small process that reads the pipes of panes and appends their output to raw logs.

In: pipe descriptors and commands of the daemon. Out: segment files and reports of their growth. Read process.py first.
It outlives daemons, so it must stay small and imports only built-in modules.
"""
