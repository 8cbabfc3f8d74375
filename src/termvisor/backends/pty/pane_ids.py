"""Ids of own terminals: `%p7` is the terminal that the PTY host calls 7. No multiplexer uses this form."""

from termvisor.model.ids import MuxPaneId

_PREFIX = "%p"


def format_mux_id(number: int) -> MuxPaneId:
    return MuxPaneId(f"{_PREFIX}{number}")


def parse_mux_id(mux_id: MuxPaneId) -> int:
    """Return the host's number of a pane; 0, which no terminal has, for an id of another form."""
    digits = mux_id.removeprefix(_PREFIX)
    return int(digits) if mux_id.startswith(_PREFIX) and digits.isascii() and digits.isdecimal() else 0
