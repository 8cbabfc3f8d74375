"""The read-only contract of a multiplexer server (`PaneSource`): list panes, capture screens, pipe output.

Typing into panes is the job of pane_control.py, which only the gate may import.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.pane import PaneFacts, ServerInstance
from termvisor.model.terminal.screen import Screen


class PaneStatus(Struct, frozen=True):
    """The few facts that tell why the pipe of a pane ended."""

    pid: int
    piped: bool
    dead: bool


class PaneCapture(Struct, frozen=True, kw_only=True):
    """Rows as the multiplexer rendered them: scrollback first, then the screen. Raw text, not redacted."""

    rows: tuple[str, ...]
    width: int = 0
    height: int = 0
    cursor_x: int = 0
    cursor_y: int = 0
    has_cursor: bool = True
    """False if the program hides the cursor."""
    alternate: bool = False
    rows_above: tuple[str, ...] = ()
    """Scrollback directly above ``rows``, if requested: a secret in ``rows`` may begin there."""
    main: "PaneCapture | None" = None
    """While the pane shows its alternate screen: the main screen behind it with its scrollback, if requested."""

    def to_screen(self, pane: PaneId, rows: Sequence[str], at: int) -> Screen:
        """Return the capture as a Screen with the given (redacted) rows."""
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
    """One running server process. Every method raises MuxError if the server does not answer."""

    instance: ServerInstance

    async def list_pane_statuses(self) -> Mapping[MuxPaneId, PaneStatus]:
        """Return the short facts of all panes."""

    async def list_pane_facts(self) -> list[PaneFacts]:
        """Return all facts of all panes."""

    async def open_pipe(
        self, pane: MuxPaneId, command: str, *, lines: int, replace: bool = False
    ) -> PaneCapture | PipeRefusal:
        """Pipe the pane's output to a command and capture its screen in one step: no byte is lost or duplicated.

        Refuses a pane that already has a pipe, unless ``replace`` is set because that pipe is a dead one of ours.
        """

    async def close_pipe(self, pane: MuxPaneId) -> None:
        """Close the pipe of a pane. The caller must be sure that the pipe is ours."""

    async def capture_pane(self, pane: MuxPaneId, *, lines: int = 0, escapes: bool = False) -> PaneCapture:
        """Capture the screen and up to ``lines`` lines of scrollback. Raises MuxError if the pane is gone."""

    async def capture_screens(self, panes: Sequence[MuxPaneId]) -> list[PaneCapture | None]:
        """Capture several screens in one round trip; None for a pane that is gone."""
