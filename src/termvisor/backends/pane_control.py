"""The contract for changing panes (`PaneControl`): type, press keys, open, close. Only the gate may import this module.

Every change is guarded: the backend checks the guard and makes the change, in one step if its guarantee is "atomic". If
a condition fails, nothing changes, and the result names the failed condition.
"""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from termvisor.model.action.action import Spawn
from termvisor.model.ids import MuxPaneId

Guarantee = Literal["atomic", "checked"]
"""How a guard is checked: in the same step as the change, or just before it."""


class PaneGuard(Struct, frozen=True, kw_only=True):
    """Conditions that a pane must meet before it is changed; its id and process id are always checked."""

    pane: MuxPaneId
    pid: int
    command: str | None = None
    """Name of the foreground program."""
    alternate: bool | None = None
    takes_input: bool = True
    """Require that the pane is alive, not in a mode such as copy mode, accepts input and is not synchronized."""
    shows: str = ""
    """Text (letters, digits and spaces) that some row of the screen must contain."""
    rows: tuple[str, ...] = ()
    """Further texts, each of which some row must contain. They may also include a full stop or a menu pointer."""
    cursor: tuple[int, int] | None = None
    """Column and row of the cursor: it moves when anything is typed."""
    title: str | None = None
    front: MuxPaneId | None = None
    """The active pane of the active window of its session."""


class GuardMismatch(Struct, frozen=True):
    """The first condition of a guard that failed."""

    what: Literal[
        "pane",
        "pid",
        "dead",
        "mode",
        "input_off",
        "synchronized",
        "command",
        "alternate",
        "screen",
        "cursor",
        "title",
        "front",
    ]
    expected: str
    actual: str


class PaneViewer(Struct, frozen=True):
    """A terminal showing this pane; ``typed_at`` is the time of its last key press (ns)."""

    client: str
    typed_at: int


class AttachedClient(Struct, frozen=True):
    """An attached terminal: its device, the pane it shows and the time of its last key press (ns)."""

    tty: str
    pane: MuxPaneId
    typed_at: int
    is_utf8: bool


class PaneState(Struct, frozen=True, kw_only=True):
    """A pane at one instant: its state, its screen (wrapped rows joined, with colours) and the terminals showing it."""

    pane: MuxPaneId
    pid: int
    command: str
    dead: bool
    in_mode: bool
    input_off: bool
    synchronized: bool
    alternate: bool
    width: int
    height: int
    cursor_x: int
    cursor_y: int
    cursor_visible: bool
    rows: tuple[str, ...]
    viewers: tuple[PaneViewer, ...] = ()
    title: str = ""
    front: MuxPaneId | None = None
    """The active pane of the active window of its session."""


class AppliedChange(Struct, frozen=True, kw_only=True):
    """A change that was made, and how its guard was checked."""

    guarantee: Guarantee = "atomic"


class AppliedPaneChange(AppliedChange, frozen=True, kw_only=True):
    """A change of the pane itself: the title and front pane before it, and the title after it."""

    old_title: str = ""
    old_front: MuxPaneId | None = None
    new_title: str = ""


GuardResult = AppliedChange | GuardMismatch


class PaneControl(Protocol):
    """Control of the panes of one server. Every method raises MuxError if it cannot tell whether anything changed.

    What the backend does not support raises Unsupported before anything changes.
    """

    async def read_pane_state(self, pane: MuxPaneId) -> PaneState | None:
        """Return the current state of a pane, or None if it does not exist."""

    async def list_clients(self) -> list[AttachedClient]:
        """Return the attached terminals, excluding control-mode clients such as ours."""

    async def write(self, guard: PaneGuard, text: str) -> GuardResult:
        """Paste text into the pane without pressing Enter."""

    async def press(self, guard: PaneGuard, keys: Sequence[str]) -> GuardResult:
        """Press keys given by name. Raises BadRequest for an unknown key."""

    async def open_pane(self, spawn: Spawn, beside: MuxPaneId | None, gate: str = "") -> tuple[MuxPaneId, int]:
        """Start a program in a new session, window or pane; return the new pane and its process id.

        The program starts once the FIFO ``gate``, if it is given, has ended or is gone. A backend that captures its
        panes before their programs start ignores it.
        """

    async def change_pane(
        self, guard: PaneGuard, change: Literal["activate", "title", "close"], value: str = ""
    ) -> GuardMismatch | AppliedPaneChange:
        """Activate a pane, set its title, or close it."""
