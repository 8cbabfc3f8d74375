"""PaneSource: what the rest of the product knows of a multiplexer server that shows panes.

Nothing here types into a pane; that is `mux.control`, which only the gate may import.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.pane import PaneFacts, ServerInstance
from termvisor.model.terminal.screen import Screen


class PaneStatus(Struct, frozen=True):
    """The little that is asked of every pane every second."""

    pid: int
    piped: bool
    dead: bool


class PaneCapture(Struct, frozen=True, kw_only=True):
    """Rows as the multiplexer rendered them: scrollback first, then the screen. Raw text, to be redacted."""

    rows: tuple[str, ...]
    width: int = 0
    height: int = 0
    cursor_x: int = 0
    cursor_y: int = 0
    has_cursor: bool = True
    """Whether the program shows the cursor."""
    alternate: bool = False
    rows_above: tuple[str, ...] = ()
    """The scrollback right above the rows, where it was asked for: a secret that reaches into them may begin there."""

    def to_screen(self, pane: PaneId, rows: Sequence[str], at: int) -> Screen:
        """The same with rows that may be shown."""
        return Screen(
            pane=pane,
            rows=tuple(rows),
            width=self.width,
            height=self.height,
            cursor_x=self.cursor_x,
            cursor_y=self.cursor_y,
            alternate=self.alternate,
            at=at,
        )


PipeRefusal = Literal["piped", "gone", "dead"]


class PaneSource(Protocol):
    """One life of one server. Every method raises `MuxError` when the server does not answer."""

    instance: ServerInstance

    async def list_pane_statuses(self) -> Mapping[MuxPaneId, PaneStatus]:
        """All panes, with what changes when something happens to them."""

    async def list_pane_facts(self) -> list[PaneFacts]:
        """All panes with everything the server tells of them."""

    async def open_pipe(
        self, pane: MuxPaneId, command: str, *, lines: int, replace: bool = False
    ) -> PaneCapture | PipeRefusal:
        """Pipe the pane's output to a command and capture it, in one step: nothing is lost or doubled between the two.

        A pane that already has a pipe is left alone, unless ``replace`` says that the pipe is a dead one of ours.
        """

    async def close_pipe(self, pane: MuxPaneId) -> None:
        """Close the pipe of a pane; the caller knows that it is ours."""

    async def capture_pane(self, pane: MuxPaneId, *, lines: int = 0, escapes: bool = False) -> PaneCapture:
        """What the pane shows now, with up to so many lines of scrollback before it."""

    async def capture_screens(self, panes: Sequence[MuxPaneId]) -> list[PaneCapture | None]:
        """What these panes show now, asked for in one go. None for a pane that cannot be seen without a new process."""
