"""The terminal UI: the live table of `visor up`, and the player of `visor replay`."""
