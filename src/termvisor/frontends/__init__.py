"""Front ends: the command line (`cli`), the terminal UI (`tui`), agent hooks (`hook`) and the demo."""
