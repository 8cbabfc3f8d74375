"""A pane's past, drawn by a tmux of our own and given as frames without secrets.

Frames come as fast as they are asked for and not faster: nothing is drawn ahead. Nothing of a recording leaves here
but the text and the colours of the screens that it makes.
"""

import re
from collections.abc import AsyncGenerator, Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from termvisor.backends.pane_source import Capture
from termvisor.backends.tmux.replay_pane import Easel, Size
from termvisor.backends.tmux.replay_server import Studio
from termvisor.daemon.replay.colored_redaction import coloured
from termvisor.daemon.replay.timeline import Missing, Portion, Span, Step, Stretch, unfinished
from termvisor.model.ids import PaneId
from termvisor.model.terminal.frame import Frame
from termvisor.model.terminal.screen import Screen
from termvisor.redaction import Memory
from termvisor.redaction.painted_secrets import Painted
from termvisor.terminal.sgr import self_contained

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
StepsOf = Callable[[Stretch], Iterable[Step]]


class Drawing(Struct, frozen=True):
    """``steps`` reads what happened in a stretch."""

    studio: Studio
    span: Span
    steps: StepsOf

    async def frames(self, stretches: Iterable[Stretch]) -> AsyncGenerator[Frame, None]:
        for stretch in stretches:
            size = Size(stretch.first.width, stretch.first.height)
            async with self.studio.easel(size) as easel:
                sitting = _Sitting(easel, stretch)
                await easel.feed(opening(stretch.first))
                async for frame in self._shown(sitting, stretch):
                    yield frame

    async def _shown(self, sitting: "_Sitting", stretch: Stretch) -> AsyncGenerator[Frame, None]:
        """What happened before the span is drawn, not given; then comes the screen with which the span begins."""
        since = self.span.since or 0
        is_hidden = stretch.opened_at < since
        if not is_hidden:
            yield await sitting.frame(stretch.opened_at)
        for step in self.steps(stretch):
            if is_hidden and step.at >= since:
                is_hidden = False
                yield await sitting.frame(since)
            await sitting.take(step)
            if not is_hidden and (frame := await sitting.changed(step)):
                yield frame
        if is_hidden:
            yield await sitting.frame(since)


class _Sitting:
    """One stretch on its easel."""

    def __init__(self, easel: Easel, stretch: Stretch):
        self._easel, self._pane = easel, stretch.first.pane
        self._epoch, self._offset = stretch.epochs[0].id, 0
        self._held = b""
        self._seen: Capture | None = None
        self._last: Frame | None = None
        self._secrets = Memory()
        self._painted = Painted(self._secrets)

    async def take(self, step: Step) -> None:
        if isinstance(step, Portion):
            data = self._held + step.data
            border = unfinished(data)
            self._held = data[border:]
            self._painted.feed(step.data)
            await self._easel.feed(data[:border])
            self._epoch, self._offset = step.epoch, step.end
        elif not isinstance(step, Missing):
            await self._easel.resize(Size(step.width, step.height))

    async def changed(self, step: Step) -> Frame | None:
        """The screen after a step; None when nothing of it is new."""
        before = self._seen
        frame = await self.frame(step.at)
        if isinstance(step, Missing):
            return replace(frame, note=step.note)
        return None if self._seen == before else frame

    async def frame(self, at: int) -> Frame:
        look = await self._easel.look()
        if self._last is None or look != self._seen:
            self._seen, self._last = look, _frame(self._pane, look, self._secrets)
        return replace(self._last, at=at, epoch=self._epoch, offset=self._offset)


def _frame(pane: PaneId, look: Capture, secrets: Memory) -> Frame:
    rows = [_cut(row, look.width) for row in coloured(self_contained(look.rows), look.above, secrets)]
    return Frame(
        pane=pane,
        at=0,
        width=look.width,
        height=look.height,
        rows=tuple(rows),
        cursor_x=look.cursor_x,
        cursor_y=look.cursor_y,
        is_cursor_shown=look.has_cursor,
        is_alternate=look.alternate,
    )


def _cut(row: str, width: int) -> str:
    """A row that a mask made longer than the screen; those that tmux gave fit."""
    return row[:width] if "\x1b" not in row and row.isascii() else row


def opening(screen: Screen) -> bytes:
    """Bytes that draw the screen with which listening began."""
    rows = "\r\n".join(_CONTROL.sub("", row) for row in screen.rows)
    before = "\x1b[?1049h" if screen.alternate else ""
    return f"{before}{rows}\x1b[{screen.cursor_y + 1};{screen.cursor_x + 1}H".encode("utf-8", "replace")
