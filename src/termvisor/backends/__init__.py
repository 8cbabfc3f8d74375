"""Where panes live."""
