"""Run a command in a terminal of its own: start it, know how it is doing and how it ended, harvest its output.

In: job requests that the gate allowed. Out: stored jobs, their states as events, their output by byte cursor.
Read wrapper.py first: it is the process of the pane and owns the result file; then runner.py and status.py.
"""
