"""The raw log as files: which segments are there, which may be sealed, and which are to go.

Invariant: a segment that is being written, or whose bytes are not all stored as text, is neither sealed nor deleted.
So what is deleted is only ever the past of a stream whose text is known: reading its bytes begins later, and that is
no gap.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress

from msgspec import Struct

from termvisor.model.ids import EpochId, PaneId
from termvisor.recorder.segment import PACKED, index_name, open_bytes, raw_name, size_of, starts
from termvisor.redaction.raw_bytes import EDGE


class StoredSegment(Struct, frozen=True, kw_only=True):
    """A segment on disk. ``room`` is what it takes there, ``size`` how many bytes of the stream it holds."""

    pane: PaneId
    epoch: EpochId
    folder: str
    start: int
    size: int
    room: int
    written_at: int
    is_packed: bool
    is_masked: bool
    behind: int | None = None
    """How many bytes the next segment holds; None for the newest."""

    @property
    def end(self) -> int:
        return self.start + self.size


class EpochProgress(Struct, frozen=True):
    """How far an epoch's bytes are stored as text, and whether more may come."""

    committed: int
    is_closed: bool


def survey(raw_dir: str) -> list[StoredSegment]:
    """Every segment, epoch by epoch and in the order of the stream."""
    return [segment for place in folders(raw_dir) for segment in _of_epoch(*place)]


def is_over(segment: StoredSegment, known: Mapping[EpochId, EpochProgress]) -> bool:
    """Nobody writes it, and its text is stored. An epoch that the database does not know is over."""
    epoch = known.get(segment.epoch)
    if epoch is None or (segment.is_packed and (segment.behind is not None or epoch.is_closed)):
        return True
    return segment.end <= epoch.committed and (epoch.is_closed or segment.behind is not None)


def is_ripe(segment: StoredSegment, known: Mapping[EpochId, EpochProgress]) -> bool:
    """It is over, and the bytes behind it are there by which a secret across its end is known."""
    epoch = known.get(segment.epoch)
    has_edge = epoch is None or epoch.is_closed or (segment.behind or 0) >= EDGE
    return bool(segment.size) and has_edge and is_over(segment, known)


def older_than(segments: Iterable[StoredSegment], before: int) -> list[StoredSegment]:
    return [segment for segment in segments if segment.written_at < before]


def beyond_pane(segments: Iterable[StoredSegment], limit: int) -> list[StoredSegment]:
    """What of each pane lies before its newest ``limit`` bytes, in whole segments."""
    newer: dict[PaneId, int] = {}
    found = []
    for segment in sorted(segments, key=lambda each: (each.epoch, each.start), reverse=True):
        if newer.get(segment.pane, 0) >= limit:
            found.append(segment)
        newer[segment.pane] = newer.get(segment.pane, 0) + segment.size
    return found


def oldest(segments: Iterable[StoredSegment], room: int) -> list[StoredSegment]:
    """The oldest ones of all panes that take so much room together."""
    found = []
    for segment in sorted(segments, key=lambda each: each.written_at):
        if room <= 0:
            break
        found.append(segment)
        room -= segment.room
    return found


def folders(raw_dir: str) -> list[tuple[PaneId, EpochId, str]]:
    """Every epoch's folder."""
    return [
        (PaneId(pane), EpochId(epoch), f"{raw_dir}/{pane}/{epoch}")
        for pane in _numbers(raw_dir)
        for epoch in _numbers(f"{raw_dir}/{pane}")
    ]


def remove_empty(found: Iterable[tuple[PaneId, EpochId, str]], known: Mapping[EpochId, EpochProgress]) -> None:
    """Of these folders those that are empty and whose epoch is over; ``known`` must have been asked after them."""
    for _, epoch, folder in found:
        if epoch not in known or known[epoch].is_closed:
            with suppress(OSError):
                os.rmdir(folder)


def remove_pane_folders(raw_dir: str, panes: Iterable[PaneId]) -> None:
    """The empty folders of panes that are forgotten; a pane that lives may need its own at any moment."""
    for pane in panes:
        with suppress(OSError):
            os.rmdir(f"{raw_dir}/{pane}")


def highest(raw_dir: str) -> tuple[PaneId, EpochId]:
    """The largest ids of which some folder is there; an id on disk must not be given to another."""
    epochs = [epoch for _, epoch, _ in folders(raw_dir)]
    return PaneId(max(_numbers(raw_dir), default=0)), EpochId(max(epochs, default=0))


def panes_on_disk(raw_dir: str) -> set[PaneId]:
    """Panes of which some file is left."""
    return {PaneId(pane) for pane in _numbers(raw_dir) if _numbers(f"{raw_dir}/{pane}")}


def _of_epoch(pane: PaneId, epoch: EpochId, folder: str) -> Iterator[StoredSegment]:
    behind = None
    found = []
    for start in reversed(starts(folder)):
        with suppress(FileNotFoundError):
            segment = _looked_at(pane, epoch, folder, start, behind)
            behind = segment.size
            found.append(segment)
    return reversed(found)


def _looked_at(pane: PaneId, epoch: EpochId, folder: str, start: int, behind: int | None) -> StoredSegment:
    path = raw_name(folder, start)
    is_packed = not os.path.exists(path)
    file = os.stat(f"{path}{PACKED}" if is_packed else path)
    times = size_of(index_name(folder, start))
    return StoredSegment(
        pane=pane,
        epoch=epoch,
        folder=folder,
        start=start,
        size=_size(folder, start) if is_packed else file.st_size,
        room=file.st_size + times,
        written_at=file.st_mtime_ns,
        is_packed=is_packed,
        is_masked=not file.st_mode & 0o200,
        behind=behind,
    )


def _size(folder: str, start: int) -> int:
    """A damaged file holds nothing that can be read; it goes when it is old."""
    try:
        with closing(open_bytes(folder, start)) as file:
            return file.size()
    except FileNotFoundError:
        raise
    except OSError:
        return 0


def _numbers(folder: str) -> list[int]:
    try:
        return sorted(int(name) for name in os.listdir(folder) if name.isascii() and name.isdigit())
    except (FileNotFoundError, NotADirectoryError):
        return []
