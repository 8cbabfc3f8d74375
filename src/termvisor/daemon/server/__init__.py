"""The daemon's Unix socket server: accepts clients (`listener`) and runs their requests (`connection`, `request`)."""
