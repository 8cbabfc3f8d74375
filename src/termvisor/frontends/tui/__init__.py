"""The terminal UI: the cockpit of `visor up` (start with `cockpit.py`), and the player of `visor replay`."""
