"""The read-only contract of a server that runs panes (`PaneSource`): list panes, capture their screens and output.

Typing into panes is the job of pane_control.py, which only the gate may import; what the kernel knows about a pane's
terminal is pane_terminal.py. A backend (backend.py) opens a source for each server that it finds.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

from termvisor.model.ids import EpochId, MuxPaneId, PaneId
from termvisor.model.terminal.output import Epoch, EpochEnd
from termvisor.model.terminal.pane import CaptureChannel, DataPlane, PaneFacts, ServerInstance
from termvisor.model.terminal.screen import Screen

if TYPE_CHECKING:
    from termvisor.backends.capture_sink import CaptureSink

ROWS_ABOVE = 4
"""Rows captured above the screen for redaction, because its first row may continue a wrapped line."""


class PaneStatus(Struct, frozen=True):
    """The few facts that tell why the stream of a pane ended."""

    pid: int
    piped: bool
    dead: bool


class PaneCapture(Struct, frozen=True, kw_only=True):
    """Rows as the backend rendered them: scrollback first, then the screen. Raw text, not redacted."""

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


class StartedCapture(Struct, frozen=True, kw_only=True):
    """A capture whose first byte directly follows what ``capture`` shows."""

    data_plane: DataPlane
    capture: PaneCapture
    awaits_recorder: bool = False
    """The recorder reports when it holds the stream; until then the capture may still fail."""


CaptureRefusal = Literal["piped", "gone", "dead"]
"""Another program uses the pane's only stream; the pane does not exist; its program has exited."""


class CaptureLost(Struct, frozen=True):
    """News: no more output of an epoch arrives, which the recorder does not hold and therefore does not report."""

    epoch: EpochId
    ended_by: EpochEnd
    is_failure: bool = True
    """False if a new capture may start at once, True if it is retried with increasing delay."""


class PanesChanged(Struct, frozen=True):
    """News: the panes must be listed now."""


class PaneExpected(Struct, frozen=True):
    """News: a pane may be created at this moment, so changes are to be detected now and a few times soon."""


class ServerGone(Struct, frozen=True):
    """News: the server has exited with all its panes."""


ServerNews = CaptureLost | PanesChanged | PaneExpected | ServerGone
ReportNews = Callable[[ServerNews], None]
"""Takes news of a source. A backend calls it on the event loop."""

ServerChange = Literal["none", "possible", "certain"]
"""Whether panes changed since the last listing: "possible" is listed when it suits, "certain" at once."""


class SourceStatus(Struct, frozen=True, kw_only=True):
    """How a server is reached, as the health report shows it."""

    client: str
    version: str = ""
    attached_sessions: int = 0
    """Sessions that count as attached because of us."""
    detail: str = ""
    """Why it is not reached in the best way; empty if it is."""


class PaneSource(Protocol):
    """One running server. Every asynchronous method raises MuxError if the server does not answer."""

    instance: ServerInstance

    @property
    def status(self) -> SourceStatus:
        """Return how the server is reached now."""

    def detect_changes(self, panes: Iterable[PaneFacts]) -> ServerChange:
        """Return whether these panes may have changed, without asking the server. Called several times a second.

        A server whose every change is reported as news answers "none"; one that cannot tell answers "possible".
        """

    async def list_pane_statuses(self) -> Mapping[MuxPaneId, PaneStatus]:
        """Return the short facts of all panes."""

    async def list_pane_facts(self) -> list[PaneFacts]:
        """Return all facts of all panes."""

    def choose_channel(self, pane: MuxPaneId, *, can_pipe: bool) -> CaptureChannel:
        """Return how a capture of the pane would be made now: "none" if it is impossible.

        ``can_pipe`` is False if the pane's only stream belongs to another program.
        """

    async def start_capture(
        self, pane: MuxPaneId, epoch: Epoch, sink: "CaptureSink", *, lines: int, replace: bool = False
    ) -> StartedCapture | CaptureRefusal:
        """Capture the pane's output from now on, by the channel ``epoch.source``, and its screen in the same instant.

        No byte is lost or duplicated between the two. ``lines`` limits the scrollback in the capture. ``replace``
        takes over a stream because it is a dead one of ours. If the pane is captured by another channel already, the
        new one continues exactly where the old one ends, and the old epoch gets no more bytes.
        """

    async def stop_capture(self, pane: MuxPaneId, epoch: Epoch) -> None:
        """Stop the capture of this epoch. The caller must be sure that a stream is still ours."""

    async def capture_pane(self, pane: MuxPaneId, *, lines: int = 0, escapes: bool = False) -> PaneCapture:
        """Capture the screen and up to ``lines`` lines of scrollback. Raises MuxError if the pane is gone."""

    async def capture_screens(self, panes: Sequence[MuxPaneId]) -> list[PaneCapture | None]:
        """Capture several screens in one round trip; None for a pane that is gone."""

    async def close(self) -> None:
        """Release the server and everything that was started for it. Streams that the recorder holds stay open."""
