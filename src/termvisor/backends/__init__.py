"""Terminal multiplexers that run the panes: contracts in pane_source.py and pane_control.py, tmux in tmux/."""
