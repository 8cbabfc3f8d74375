"""The tmux backend."""
