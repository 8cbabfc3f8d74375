"""Chunks of an export, and the generators for lines and raw bytes.

Everything is redacted again on export; only ``is_unredacted`` yields raw bytes unchanged.
"""

from collections.abc import AsyncGenerator
from typing import Literal

from msgspec import Struct

from termvisor.clock import format_timestamp
from termvisor.model.ids import EpochId, PaneId
from termvisor.ops.api.services import Services
from termvisor.ops.history._raw_redaction import RawOutputRedactor
from termvisor.ops.panes._text_cursor import BEFORE_FIRST_LINE
from termvisor.redaction import Redactor

_LINES_PER_PAGE = 1000
ExportFormat = Literal["text", "jsonl", "raw", "cast", "report", "snapshot"]


class ExportChunk(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line, raw bytes (base64 in JSON), a line of an asciicast, a report, or the path of a snapshot."""

    form: ExportFormat
    pane: int | None = None
    at: str
    number: int | None = None
    text: str | None = None
    epoch: int | None = None
    data: bytes | None = None


class TimeRange(Struct, frozen=True):
    """A time range; None means unbounded."""

    since: int | None = None
    until: int | None = None

    def contains(self, at: int) -> bool:
        return (self.since is None or at >= self.since) and (self.until is None or at <= self.until)


async def export_lines(
    services: Services, pane: PaneId, span: TimeRange, export_format: ExportFormat
) -> AsyncGenerator[ExportChunk, None]:
    after, redactor = BEFORE_FIRST_LINE, Redactor()
    while lines := await services.history.list_lines(pane, after=after, limit=_LINES_PER_PAGE):
        after = lines[-1].number
        texts = redactor.redact_lines([line.text for line in lines])
        for line, text in zip(lines, texts, strict=True):
            if span.contains(line.at):
                yield ExportChunk(
                    form=export_format, pane=line.pane, at=format_timestamp(line.at), number=line.number, text=text
                )


async def export_raw(
    services: Services, pane: PaneId, span: TimeRange, *, is_unredacted: bool
) -> AsyncGenerator[ExportChunk, None]:
    redactor, epoch, at = RawOutputRedactor(), EpochId(0), 0
    async for delta in services.history.recording.read_raw(pane, since=span.since):
        if not span.contains(delta.at):
            break
        # A new epoch is a new stream: a line must not be joined across the gap.
        if delta.epoch != epoch and (rest := redactor.finish()):
            yield _build_raw_chunk(pane, epoch, at, rest)
        epoch, at = delta.epoch, delta.at
        data = delta.data if is_unredacted else redactor.feed(delta.data)
        if data:
            yield _build_raw_chunk(pane, epoch, at, data)
    if rest := redactor.finish():
        yield _build_raw_chunk(pane, epoch, at, rest)


def _build_raw_chunk(pane: PaneId, epoch: EpochId, at: int, data: bytes) -> ExportChunk:
    return ExportChunk(form="raw", pane=pane, at=format_timestamp(at), epoch=epoch, data=data)
