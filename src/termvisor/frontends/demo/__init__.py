"""The demo: a private tmux server with six panes of sample output and two fake agents; no model, no network."""
