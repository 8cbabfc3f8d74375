"""Terminals that run the panes: the contract in backend.py, tmux in tmux/, the ways to reach them in transports/."""
