"""A pane as the multiplexer tells it, as far as it matters for finding agents in it."""

from msgspec import Struct

from termvisor.model.agent.agent_process import PaneLocation
from termvisor.model.ids import PaneId


class PaneInfo(Struct, frozen=True, kw_only=True):
    pane: PaneId
    pid: int
    """Of its first process."""
    command: str
    """What has its terminal now."""
    title: str = ""
    place: PaneLocation
    generation: int = 0
    shows_ours: bool = False
    """It shows panes of a multiplexer that is watched as well: what is on its screen belongs to those."""
