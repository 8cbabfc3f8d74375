"""PaneControl: how the world is changed through a multiplexer. Only the gate may import this.

Every change of a pane is guarded: what must be true is checked inside the multiplexer in the same instant as the
change is made. When it is not true nothing is done, and the answer says what was found instead.
"""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from termvisor.model.action.action import Spawn
from termvisor.model.ids import MuxPaneId


class PaneGuard(Struct, frozen=True, kw_only=True):
    """What must be true of a pane. Always: it is this pane, with this process."""

    pane: MuxPaneId
    pid: int
    command: str | None = None
    """The program in the foreground."""
    alternate: bool | None = None
    takes_input: bool = True
    """It is alive, in no mode, its input is on and goes to no other pane."""
    shows: str = ""
    """A piece of text (letters, digits and blanks) that must stand in one row of the screen."""
    rows: tuple[str, ...] = ()
    """More such pieces, which may have a full stop or a pointer in them; each must stand in some row."""
    title: str | None = None
    front: MuxPaneId | None = None
    """The pane that people see who look at its session."""


class GuardMismatch(Struct, frozen=True):
    """One expectation that did not hold, in words that a person understands."""

    what: Literal[
        "pane", "pid", "dead", "mode", "input_off", "synchronized", "command", "alternate", "screen", "title", "front"
    ]
    expected: str
    actual: str


class PaneViewer(Struct, frozen=True):
    """Somebody at a terminal who has this pane before them; ``typed_at`` is when they last pressed a key (ns)."""

    client: str
    typed_at: int


class AttachedClient(Struct, frozen=True):
    """A terminal at which somebody is attached: its device, the pane before them, when they last pressed a key (ns)."""

    tty: str
    pane: MuxPaneId
    typed_at: int
    is_utf8: bool


class PaneState(Struct, frozen=True, kw_only=True):
    """A pane in one instant: what it is, what it shows (rows joined, with colours), and who looks at it."""

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
    """The pane that people see who look at its session."""


class AppliedPaneChange(Struct, frozen=True):
    """A change was made: what stood in its place, found in the same instant, and the title that stands there now."""

    old_title: str
    old_front: MuxPaneId
    new_title: str = ""


GuardResult = GuardMismatch | None
"""None: it was done."""


class PaneControl(Protocol):
    """One server. Every method raises `MuxError` when it cannot be said whether anything was done."""

    async def read_pane_state(self, pane: MuxPaneId) -> PaneState | None:
        """The pane as it is now; None when there is none."""

    async def list_clients(self) -> list[AttachedClient]:
        """Everybody who is attached; programs that speak the multiplexer's own language, as we do, are not meant."""

    async def write(self, guard: PaneGuard, text: str) -> GuardResult:
        """Give a text to the program, as pasted; no key is pressed after it."""

    async def press(self, guard: PaneGuard, keys: Sequence[str]) -> GuardResult:
        """Press keys, by their names."""

    async def open_pane(self, spawn: Spawn, beside: MuxPaneId | None) -> tuple[MuxPaneId, int]:
        """Start a program in a new session, window or pane; the new pane and its process."""

    async def change_pane(
        self, guard: PaneGuard, change: Literal["activate", "title", "close"], value: str = ""
    ) -> GuardMismatch | AppliedPaneChange:
        """Make it the active one, give it a title, or close it."""
