"""What agent discovery needs to know about a pane (`PaneInfo`)."""

from msgspec import Struct

from termvisor.model.agent.agent_process import PaneLocation
from termvisor.model.ids import PaneId


class PaneInfo(Struct, frozen=True, kw_only=True):
    pane: PaneId
    pid: int
    """The pid of its first process."""
    command: str
    """The program in the foreground, as the multiplexer reports it."""
    title: str = ""
    place: PaneLocation
    generation: int = 0
    shows_watched_panes: bool = False
    """It shows panes of another watched multiplexer server: its screen belongs to those panes."""
