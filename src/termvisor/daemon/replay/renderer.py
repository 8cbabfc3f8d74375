"""Render the recorded output of a pane as redacted frames, by feeding it to a pane of a private tmux.

Frames are rendered on demand, never ahead. Only the text and colours of the resulting screens are returned, never the
recorded bytes.
"""

import re
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.backends.pane_source import PaneCapture
from termvisor.backends.tmux.replay_pane import PaneSize, ReplayPane
from termvisor.backends.tmux.replay_server import ReplayServer
from termvisor.daemon.replay import timeline
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import ReplayFrame, Screen
from termvisor.redaction import Redactor, SeenSecrets
from termvisor.redaction.raw_bytes import PaintedSecretLearner
from termvisor.terminal.sgr import make_rows_self_contained

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
ReadSteps = Callable[[timeline.TimelineSegment], Iterable[timeline.ReplayStep]]
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])|[\x0e\x0f]")


class ReplayRenderer(Struct, frozen=True):
    """Renderer of one span. ``read_steps`` yields the steps of a segment in order."""

    replay_server: ReplayServer
    span: timeline.ReplaySpan
    read_steps: ReadSteps

    async def render_frames(self, segments: Iterable[timeline.TimelineSegment]) -> AsyncGenerator[ReplayFrame, None]:
        for segment in segments:
            size = PaneSize(segment.first_screen.width, segment.first_screen.height)
            async with self.replay_server.open_pane(size) as replay_pane:
                await replay_pane.feed(encode_first_screen(segment.first_screen))
                async for frame in self._render_segment(_SegmentScreen(replay_pane, segment), segment):
                    yield frame

    async def _render_segment(
        self, segment_screen: "_SegmentScreen", segment: timeline.TimelineSegment
    ) -> AsyncGenerator[ReplayFrame, None]:
        """Feed all output, but yield frames only from the start of the span, beginning with the screen at that time."""
        since = self.span.since or 0
        is_hidden = segment.opened_at < since
        if not is_hidden:
            yield await segment_screen.render_frame(segment.opened_at)
        for step in self.read_steps(segment):
            if is_hidden and step.at >= since:
                is_hidden = False
                yield await segment_screen.render_frame(since)
            await segment_screen.apply_step(step)
            if not is_hidden and (frame := await segment_screen.render_if_changed(step)):
                yield frame
        if is_hidden:
            yield await segment_screen.render_frame(since)


class _SegmentScreen:
    """The screen of one segment in its replay pane."""

    def __init__(self, replay_pane: ReplayPane, segment: timeline.TimelineSegment):
        self._replay_pane, self._pane = replay_pane, segment.first_screen.pane
        self._epoch, self._offset = segment.epochs[0].id, 0
        self._unfinished_bytes = b""
        self._last_capture: PaneCapture | None = None
        self._last_frame: ReplayFrame | None = None
        self._secrets = SeenSecrets()
        self._painted_secrets = PaintedSecretLearner(self._secrets)

    async def apply_step(self, step: timeline.ReplayStep) -> None:
        if isinstance(step, timeline.OutputChunk):
            data = self._unfinished_bytes + step.data
            # Hold back an unterminated sequence until its end arrives: tmux would show the rest of a title as text.
            end = timeline.find_unfinished_sequence(data)
            self._unfinished_bytes = data[end:]
            # Search the bytes themselves for secrets: in the frames, a secret may always be partly painted over.
            self._painted_secrets.feed(step.data)
            await self._replay_pane.feed(data[:end])
            self._epoch, self._offset = step.epoch, step.end
        elif not isinstance(step, timeline.MissingOutput):
            await self._replay_pane.resize(PaneSize(step.width, step.height))

    async def render_if_changed(self, step: timeline.ReplayStep) -> ReplayFrame | None:
        """Return the frame after a step; None if the screen did not change."""
        before = self._last_capture
        frame = await self.render_frame(step.at)
        if isinstance(step, timeline.MissingOutput):
            return replace(frame, note=step.note)
        return None if self._last_capture == before else frame

    async def render_frame(self, at: int) -> ReplayFrame:
        capture = await self._replay_pane.capture_pane()
        if self._last_frame is None or capture != self._last_capture:
            self._last_capture, self._last_frame = capture, _build_frame(self._pane, capture, self._secrets)
        return replace(self._last_frame, at=at, epoch=self._epoch, offset=self._offset)


def _build_frame(pane: PaneId, capture: PaneCapture, secrets: SeenSecrets) -> ReplayFrame:
    rows = [
        _cut_row(row, capture.width)
        for row in redact_colored_rows(
            make_rows_self_contained(capture.rows), capture.rows_above, secrets, cursor_row=capture.cursor_y
        )
    ]
    return ReplayFrame(
        pane=pane,
        at=0,
        width=capture.width,
        height=capture.height,
        rows=tuple(rows),
        cursor_x=capture.cursor_x,
        cursor_y=capture.cursor_y,
        is_cursor_shown=capture.has_cursor,
        is_alternate=capture.alternate,
    )


def _cut_row(row: str, width: int) -> str:
    """Cut a row that redaction made longer than the screen; rows from tmux always fit."""
    return row[:width] if "\x1b" not in row and row.isascii() else row


def encode_first_screen(screen: Screen) -> bytes:
    """Return the bytes that redraw the pane's screen from the time when its capture began."""
    rows = "\r\n".join(_CONTROL.sub("", row) for row in screen.rows)
    enter_alternate = "\x1b[?1049h" if screen.alternate else ""
    return f"{enter_alternate}{rows}\x1b[{screen.cursor_y + 1};{screen.cursor_x + 1}H".encode("utf-8", "replace")


def strip_escapes(row: str) -> str:
    return _ESCAPE.sub("", row).rstrip()


def redact_rows(
    rows: Sequence[str], above: Sequence[str] = (), secrets: SeenSecrets | None = None, *, cursor_row: int = 0
) -> list[str]:
    """Redact secrets in rows, including the rest of a secret that begins in the rows above, and secrets seen before."""
    redactor = Redactor(seen_secrets=secrets)
    redactor.redact_lines(above)
    return redactor.redact_screen(rows, cursor_row)


def redact_colored_rows(
    rows: Sequence[str], above: Sequence[str] = (), secrets: SeenSecrets | None = None, *, cursor_row: int = 0
) -> list[str]:
    """Redact rows and keep their colours, except in rows with a secret, which may have escapes inside it."""
    plain_rows = [strip_escapes(row) for row in rows]
    redacted = redact_rows(plain_rows, [strip_escapes(row) for row in above], secrets, cursor_row=cursor_row)
    return [row if plain == safe else safe for row, plain, safe in zip(rows, plain_rows, redacted, strict=True)]
