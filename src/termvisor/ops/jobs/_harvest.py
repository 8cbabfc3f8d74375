"""Read the output of a job in pages, as redacted lines or bytes."""

from collections.abc import AsyncGenerator
from typing import Literal

from msgspec import Struct

from termvisor.bus import wait_for_update
from termvisor.clock import format_timestamp
from termvisor.jobs.output import HarvestedBytes
from termvisor.jobs.output_lines import OutputLine, split_lines
from termvisor.model.ids import PaneId
from termvisor.model.job import Job
from termvisor.ops.api.services import Services
from termvisor.ops.history._raw_redaction import RawOutputRedactor
from termvisor.redaction import Redactor

OutputMode = Literal["lines", "raw", "jsonl"]
PAGE_BYTES = 1 << 20
_FOLLOW_INTERVAL_S = 1.0


class TextLineItem(Struct, frozen=True, kw_only=True):
    """One line of output: when it was printed, the byte where it begins, and its text."""

    at: str
    offset: int
    text: str


class HarvestPage(Struct, frozen=True, kw_only=True):
    """Consecutive output from ``start`` to ``cursor``. ``is_incomplete``: bytes before ``start`` were deleted."""

    job: int
    mode: OutputMode
    start: int
    cursor: int
    lines: tuple[TextLineItem, ...] = ()
    pending: str = ""
    """The text of the unfinished last line, which is not counted by the cursor."""
    data: bytes | None = None
    has_more: bool = False
    is_over: bool = False
    is_incomplete: bool = False


class HarvestReader:
    """Reads one job page by page; the redactor keeps its state between pages."""

    def __init__(self, services: Services, job: Job, cursor: int, mode: OutputMode, *, is_unredacted: bool = False):
        self._services, self.job, self._mode, self._is_unredacted = services, job, mode, is_unredacted
        self.cursor = cursor
        self._redactor, self._raw_redactor = Redactor(), RawOutputRedactor()

    async def read_page(self, limit: int = PAGE_BYTES, max_lines: int | None = None) -> HarvestPage:
        found = await self._services.jobs.read_output(self.job, self.cursor, limit)
        page = self._build_raw_page(found) if self._mode == "raw" else self._build_line_page(found, max_lines)
        self.cursor = page.cursor
        return page

    def _build_raw_page(self, found: HarvestedBytes) -> HarvestPage:
        data = found.data if self._is_unredacted else self._raw_redactor.feed(found.data)
        if not (found.has_more or self._is_unredacted):
            data += self._raw_redactor.finish()
        return self._build_page(found, found.cursor, data=data)

    def _build_line_page(self, found: HarvestedBytes, max_lines: int | None) -> HarvestPage:
        lines = split_lines(found.pieces, found.start, is_over=found.is_over, redactor=self._redactor)
        items, cursor, has_more = lines.lines, lines.cursor, found.has_more
        if max_lines is not None and len(items) > max_lines:
            cursor, items, has_more = items[max_lines].offset, items[:max_lines], True
        pending = "" if has_more else lines.pending
        return self._build_page(
            found, cursor, lines=tuple(map(build_line_item, items)), pending=pending, has_more=has_more
        )

    def _build_page(self, found: HarvestedBytes, cursor: int, **fields: object) -> HarvestPage:
        has_more = bool(fields.pop("has_more", found.has_more))
        return HarvestPage(
            job=self.job.id,
            mode=self._mode,
            start=found.start,
            cursor=cursor,
            has_more=has_more,
            is_over=found.is_over and not has_more,
            is_incomplete=found.is_incomplete,
            **fields,  # type: ignore[arg-type]
        )

    async def follow(self) -> AsyncGenerator[HarvestPage, None]:
        """Yield pages until the job has ended and everything was read."""
        services = self._services
        with services.updates.subscribe_output() as output, services.jobs.subscribe() as updates:
            pane: PaneId | None = self.job.pane
            output.is_wanted = lambda changed: changed == pane
            while True:
                self.job = await services.jobs.find(self.job.id)
                pane = self.job.pane
                before = self.cursor
                page = await self.read_page()
                if page.cursor != before or page.data or page.lines:
                    yield page
                if page.is_over:
                    return
                if not page.has_more or page.cursor == before:
                    await wait_for_update(services.clock, _FOLLOW_INTERVAL_S, output, updates)


def build_line_item(line: OutputLine) -> TextLineItem:
    return TextLineItem(at=format_timestamp(line.at), offset=line.offset, text=line.text)
