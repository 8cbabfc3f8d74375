"""Read the output of a job by byte cursor, from the raw log of its pane.

A cursor counts the bytes of the job's terminal from its first one, across all epochs: a recorder that was killed begins
another epoch. The output ends where the end mark begins; what a shell prints there afterwards does not belong to it.
"""

from collections.abc import Callable
from contextlib import closing

from msgspec import Struct

from termvisor.jobs.job_folder import JobFolder
from termvisor.jobs.wrapper import MARK_END, MARK_PREFIX
from termvisor.model.ids import JobId, PaneId
from termvisor.model.job import Job
from termvisor.model.terminal.output import Epoch
from termvisor.recorder.segment_log import SegmentReader
from termvisor.store import Store

_READ_BYTES = 1 << 20
_MAX_MARK_BYTES = 128


class OutputPiece(Struct, frozen=True):
    """Bytes at ``offset``, read at the time ``at``."""

    offset: int
    data: bytes
    at: int


class HarvestedBytes(Struct, frozen=True, kw_only=True):
    """Consecutive bytes from ``start`` to ``cursor``; ``is_incomplete`` if bytes before ``start`` are gone.

    ``has_more`` is true if more bytes are stored, ``is_over`` if the job has ended and nothing follows.
    """

    pieces: tuple[OutputPiece, ...]
    start: int
    cursor: int
    has_more: bool
    is_over: bool
    is_incomplete: bool

    @property
    def data(self) -> bytes:
        return b"".join(piece.data for piece in self.pieces)


class EndSearch(Struct, frozen=True):
    """Where the output ends, None if the mark was not found; the search continues at ``position``."""

    offset: int | None
    position: int
    is_closed: bool = False
    """The terminal is gone, so that no mark will come."""


class JobOutput:
    """Reads outputs; ``get_folder`` returns the folder of a job, which knows its end mark."""

    def __init__(self, store: Store, raw_dir: str, get_folder: Callable[[JobId], JobFolder]):
        self._store, self._raw_dir, self._get_folder = store, raw_dir, get_folder

    async def read(self, job: Job, cursor: int, limit: int) -> HarvestedBytes:
        """Return at most ``limit`` bytes after the cursor, or after the first byte that is still stored."""
        spans = await self._list_spans(job.pane)
        end = job.end_offset if job.end_offset is not None else (spans[-1].end if spans else 0)
        pieces, start, has_hole = self._read_pieces(spans, min(cursor, end), min(limit, max(0, end - cursor)))
        if not pieces and limit > 0 and cursor < end:
            # All that follows was deleted.
            start, has_hole = end, True
        next_cursor = pieces[-1].offset + len(pieces[-1].data) if pieces else max(start, min(cursor, end))
        if job.end_offset is None:
            kept = self._cut_mark(job.id, pieces)
            next_cursor -= sum(len(piece.data) for piece in pieces) - sum(len(piece.data) for piece in kept)
            has_more = bool(kept) and next_cursor < end and len(kept) == len(pieces)
            pieces = kept
        else:
            has_more = next_cursor < end
        return HarvestedBytes(
            pieces=tuple(pieces),
            start=start,
            cursor=next_cursor,
            has_more=has_more,
            is_over=job.is_over and not has_more,
            is_incomplete=has_hole,
        )

    async def measure(self, pane: PaneId | None) -> int:
        """Return how many bytes the terminal has printed so far."""
        spans = await self._list_spans(pane)
        return spans[-1].end if spans else 0

    async def find_end(self, job: Job, position: int) -> EndSearch:
        """Search the end mark from ``position`` on."""
        spans = await self._list_spans(job.pane)
        end, folder = spans[-1].end if spans else 0, self._get_folder(job.id)
        is_closed = bool(spans) and spans[-1].is_closed
        tail, at = b"", position
        while at < end:
            pieces, start, _ = self._read_pieces(spans, at, _READ_BYTES)
            if not pieces:
                break
            tail = tail if start == at else b""
            at = pieces[-1].offset + len(pieces[-1].data)
            tail += b"".join(piece.data for piece in pieces)
            if (mark := folder.find_end_mark(tail)) is not None:
                return EndSearch(at - len(tail) + mark[0], at, is_closed)
            tail = tail[-_MAX_MARK_BYTES:]
        return EndSearch(None, max(position, at - _MAX_MARK_BYTES), is_closed)

    async def _list_spans(self, pane: PaneId | None) -> list["_EpochSpan"]:
        spans: list[_EpochSpan] = []
        for epoch in await self._store.output.list_epochs(pane) if pane is not None else ():
            folder, start = f"{self._raw_dir}/{epoch.pane}/{epoch.id}", spans[-1].end if spans else 0
            size, is_closed = _measure_epoch(epoch, folder)
            spans.append(_EpochSpan(folder, start, start + size, is_closed))
        return spans

    def _read_pieces(self, spans: list["_EpochSpan"], cursor: int, limit: int) -> tuple[list[OutputPiece], int, bool]:
        """Return the pieces, where they start, and whether bytes at the cursor are gone."""
        pieces: list[OutputPiece] = []
        size, is_gone = 0, False
        for span in (span for span in spans if span.end > cursor):
            with closing(SegmentReader(span.folder)) as reader:
                offset, stop = (
                    max(0, cursor - span.start),
                    min(span.end - span.start, cursor - span.start + limit - size),
                )
                for at, data, time in reader.read_pieces(offset, stop - offset) if stop > offset else ():
                    is_hole = span.start + at > cursor
                    # A hole ends a read, so that its bytes are consecutive.
                    if is_hole and pieces:
                        return pieces, pieces[0].offset, is_gone
                    is_gone = is_gone or is_hole
                    pieces.append(OutputPiece(span.start + at, data, time))
                    cursor, size = span.start + at + len(data), size + len(data)
            if size >= limit:
                break
        return pieces, pieces[0].offset if pieces else cursor, is_gone

    def _cut_mark(self, job: JobId, pieces: list[OutputPiece]) -> list[OutputPiece]:
        """Leave out an end mark, also one that is not written completely yet."""
        data = b"".join(piece.data for piece in pieces)
        end = _find_mark_start(data, self._get_folder(job))
        kept: list[OutputPiece] = []
        for piece in pieces:
            part = piece.data[: max(0, end)]
            end -= len(piece.data)
            if part:
                kept.append(OutputPiece(piece.offset, part, piece.at))
        return kept


class _EpochSpan(Struct, frozen=True):
    """One epoch: its folder, and the cursors of its first byte and of the byte after its last one."""

    folder: str
    start: int
    end: int
    is_closed: bool


def _measure_epoch(epoch: Epoch, folder: str) -> tuple[int, bool]:
    """Return the size of an epoch, and whether its stream has ended."""
    if epoch.size is not None:
        return epoch.size, True
    with closing(SegmentReader(folder)) as reader:
        # In this order: what is written in between is behind the size.
        is_closed = reader.read_end() is not None
        return reader.read_size(), is_closed


def _find_mark_start(data: bytes, folder: JobFolder) -> int:
    """Return where a valid or unfinished end mark begins; the length of the data if there is none."""
    if (mark := folder.find_end_mark(data)) is not None:
        return mark[0]
    at = data.rfind(MARK_PREFIX, max(0, len(data) - _MAX_MARK_BYTES))
    if at >= 0 and MARK_END not in data[at:]:
        return at
    # Less than the prefix may be there.
    for length in range(min(len(MARK_PREFIX) - 1, len(data)), 0, -1):
        if data.endswith(MARK_PREFIX[:length]):
            return len(data) - length
    return len(data)
