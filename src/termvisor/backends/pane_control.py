"""Define PaneControl, the contract for changing panes: type, press keys, open, close. Only the gate may import this.

Every change of a pane is guarded: the multiplexer checks the guard atomically with the change. If it does not hold,
nothing is changed and the result says which expectation failed.
"""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from termvisor.model.action.action import Spawn
from termvisor.model.ids import MuxPaneId


class PaneGuard(Struct, frozen=True, kw_only=True):
    """Conditions a pane must meet; its id and process are always checked."""

    pane: MuxPaneId
    pid: int
    command: str | None = None
    """Name of the foreground program."""
    alternate: bool | None = None
    takes_input: bool = True
    """Require that the pane is alive, in no mode, accepts input and is not synchronized with other panes."""
    shows: str = ""
    """Text (letters, digits and blanks) that must be in one row of the screen."""
    rows: tuple[str, ...] = ()
    """More such texts, which may contain a full stop or a pointer; each must be in some row."""
    title: str | None = None
    front: MuxPaneId | None = None
    """The active pane of the active window of its session."""


class GuardMismatch(Struct, frozen=True):
    """The first condition of a guard that did not hold."""

    what: Literal[
        "pane", "pid", "dead", "mode", "input_off", "synchronized", "command", "alternate", "screen", "title", "front"
    ]
    expected: str
    actual: str


class PaneViewer(Struct, frozen=True):
    """A terminal that shows this pane; ``typed_at`` is the time of its last key press (ns)."""

    client: str
    typed_at: int


class AttachedClient(Struct, frozen=True):
    """An attached terminal: its device, the pane it shows and the time of its last key press (ns)."""

    tty: str
    pane: MuxPaneId
    typed_at: int
    is_utf8: bool


class PaneState(Struct, frozen=True, kw_only=True):
    """A pane at one instant: its state, its screen (rows joined, with colours) and the terminals that show it."""

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


class AppliedPaneChange(Struct, frozen=True):
    """The result of a change: the title and front pane before it, and the title after it."""

    old_title: str
    old_front: MuxPaneId
    new_title: str = ""


GuardResult = GuardMismatch | None
"""None if the change was made."""


class PaneControl(Protocol):
    """One server. Every method raises MuxError if it is unknown whether anything was changed."""

    async def read_pane_state(self, pane: MuxPaneId) -> PaneState | None:
        """Return the current state of a pane, None if it does not exist."""

    async def list_clients(self) -> list[AttachedClient]:
        """Return the attached terminals, without control-mode clients such as ours."""

    async def write(self, guard: PaneGuard, text: str) -> GuardResult:
        """Paste a text into the pane without pressing Enter."""

    async def press(self, guard: PaneGuard, keys: Sequence[str]) -> GuardResult:
        """Press keys given by name. Raises BadRequest for an unknown key."""

    async def open_pane(self, spawn: Spawn, beside: MuxPaneId | None) -> tuple[MuxPaneId, int]:
        """Start a program in a new session, window or pane; return the new pane and its process id."""

    async def change_pane(
        self, guard: PaneGuard, change: Literal["activate", "title", "close"], value: str = ""
    ) -> GuardMismatch | AppliedPaneChange:
        """Activate a pane, set its title, or close it."""
