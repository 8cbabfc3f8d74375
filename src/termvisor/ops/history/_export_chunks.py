"""What `export` gives piece by piece, and the two forms that come straight from the history: lines and bytes.

Every way out redacts again; only ``is_unredacted`` gives raw bytes as they are.
"""

from collections.abc import AsyncGenerator
from typing import Literal

from msgspec import Struct

from termvisor.clock import iso
from termvisor.model.ids import EpochId, PaneId
from termvisor.ops.api.services import World
from termvisor.ops.history._raw_redaction import Masking
from termvisor.ops.panes._text_cursor import BEFORE_ALL
from termvisor.redaction import Redactor

_PAGE = 1000
ExportForm = Literal["text", "jsonl", "raw", "cast", "report", "snapshot"]


class Piece(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line, some raw bytes (base64 in JSON), a line of a film, a whole report, or where a copy was put."""

    form: ExportForm
    pane: int | None = None
    at: str
    number: int | None = None
    text: str | None = None
    epoch: int | None = None
    data: bytes | None = None


class Span(Struct, frozen=True):
    """From when to when; None is open."""

    since: int | None = None
    until: int | None = None

    def holds(self, at: int) -> bool:
        return (self.since is None or at >= self.since) and (self.until is None or at <= self.until)


async def lines(world: World, pane: PaneId, span: Span, form: ExportForm) -> AsyncGenerator[Piece, None]:
    after, redactor = BEFORE_ALL, Redactor()
    while found := await world.history.lines(pane, after=after, limit=_PAGE):
        after = found[-1].number
        texts = redactor.lines([line.text for line in found])
        for line, text in zip(found, texts, strict=True):
            if span.holds(line.at):
                yield Piece(form=form, pane=line.pane, at=iso(line.at), number=line.number, text=text)


async def raw(world: World, pane: PaneId, span: Span, *, is_unredacted: bool) -> AsyncGenerator[Piece, None]:
    masking, epoch, at = Masking(), EpochId(0), 0
    async for delta in world.history.recording.raw(pane, since=span.since):
        if not span.holds(delta.at):
            break
        if delta.epoch != epoch and (rest := masking.finish()):
            yield _bytes(pane, epoch, at, rest)
        epoch, at = delta.epoch, delta.at
        data = delta.data if is_unredacted else masking.feed(delta.data)
        if data:
            yield _bytes(pane, epoch, at, data)
    if rest := masking.finish():
        yield _bytes(pane, epoch, at, rest)


def _bytes(pane: PaneId, epoch: EpochId, at: int, data: bytes) -> Piece:
    return Piece(form="raw", pane=pane, at=iso(at), epoch=epoch, data=data)
