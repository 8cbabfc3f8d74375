"""Watch tmux servers and capture the output of their panes.

In: tmux servers and the recorder's reports. Out: raw logs, stored panes, epochs, gaps and events.
Read server_supervisor.py first, then server_watcher.py and pane_capture.py.
"""
