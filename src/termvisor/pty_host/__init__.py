"""The PTY host: a small process that owns the terminals and programs of panes that no multiplexer runs.

In: requests of the daemon, keys of attached terminals. Out: master descriptors (to the recorder), states of programs.
It never reads a terminal. It outlives daemons, so it imports only what the recorder imports. Read process.py first.
"""
