"""Own PTYs: panes whose terminals belong to our host process (`termvisor.pty_host`), without a multiplexer.

In: programs to start, guarded writes. Out: panes as any other backend lists them. Read host_client.py first.
"""
