"""A private tmux server with six lively panes to try everything on: no model, no network, next to no cost."""
