"""The daemon's Unix socket server: accept clients (`listener`), run their requests (`connection`, `request`)."""
