"""A private tmux server with five lively panes to try everything on: no model, no network, next to no cost."""
