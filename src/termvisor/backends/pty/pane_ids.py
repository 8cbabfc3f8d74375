"""Ids of own terminals: `%p7` is the terminal that the PTY host calls 7. No multiplexer uses this form."""

from termvisor.errors import MuxError
from termvisor.model.ids import MuxPaneId

_PREFIX = "%p"


def format_mux_id(number: int) -> MuxPaneId:
    return MuxPaneId(f"{_PREFIX}{number}")


def parse_mux_id(mux_id: MuxPaneId) -> int:
    """Return the host's number of a pane. Raises MuxError if it is no pane of the host."""
    digits = mux_id.removeprefix(_PREFIX)
    if not (mux_id.startswith(_PREFIX) and digits.isascii() and digits.isdecimal()):
        raise MuxError(f"{mux_id} is not a pane of the PTY host")
    return int(digits)
