"""The tmux backend: read client.py and control_mode.py first, then pane_source.py and pane_control.py."""
