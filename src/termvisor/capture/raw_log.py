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
from termvisor.recorder.segment import (
    COMPRESSED_SUFFIX,
    build_index_path,
    build_raw_path,
    get_file_size,
    list_segment_starts,
    open_segment_file,
)
from termvisor.redaction.raw_bytes import EDGE_BYTES


class StoredSegment(Struct, frozen=True, kw_only=True):
    """A segment on disk. ``room`` is what it takes there, ``size`` how many bytes of the stream it holds."""

    pane: PaneId
    epoch: EpochId
    folder: str
    start: int
    size: int
    disk_bytes: int
    written_at: int
    is_compressed: bool
    is_masked: bool
    next_size: int | None = None
    """How many bytes the next segment holds; None for the newest."""

    @property
    def end(self) -> int:
        return self.start + self.size


class EpochProgress(Struct, frozen=True):
    """How far an epoch's bytes are stored as text, and whether more may come."""

    committed: int
    is_closed: bool


def list_segments(raw_dir: str) -> list[StoredSegment]:
    """Every segment, epoch by epoch and in the order of the stream."""
    return [segment for place in list_epoch_folders(raw_dir) for segment in _list_epoch_segments(*place)]


def is_complete(segment: StoredSegment, known: Mapping[EpochId, EpochProgress]) -> bool:
    """Nobody writes it, and its text is stored. An epoch that the database does not know is over."""
    epoch = known.get(segment.epoch)
    if epoch is None or (segment.is_compressed and (segment.next_size is not None or epoch.is_closed)):
        return True
    return segment.end <= epoch.committed and (epoch.is_closed or segment.next_size is not None)


def is_sealable(segment: StoredSegment, known: Mapping[EpochId, EpochProgress]) -> bool:
    """It is over, and the bytes behind it are there by which a secret across its end is known."""
    epoch = known.get(segment.epoch)
    has_edge = epoch is None or epoch.is_closed or (segment.next_size or 0) >= EDGE_BYTES
    return bool(segment.size) and has_edge and is_complete(segment, known)


def select_older_than(segments: Iterable[StoredSegment], before: int) -> list[StoredSegment]:
    return [segment for segment in segments if segment.written_at < before]


def select_beyond_pane_limit(segments: Iterable[StoredSegment], limit: int) -> list[StoredSegment]:
    """What of each pane lies before its newest ``limit`` bytes, in whole segments."""
    newer: dict[PaneId, int] = {}
    found = []
    for segment in sorted(segments, key=lambda each: (each.epoch, each.start), reverse=True):
        if newer.get(segment.pane, 0) >= limit:
            found.append(segment)
        newer[segment.pane] = newer.get(segment.pane, 0) + segment.size
    return found


def select_oldest(segments: Iterable[StoredSegment], bytes_to_free: int) -> list[StoredSegment]:
    """The oldest ones of all panes that take so much room together."""
    found = []
    for segment in sorted(segments, key=lambda each: each.written_at):
        if bytes_to_free <= 0:
            break
        found.append(segment)
        bytes_to_free -= segment.disk_bytes
    return found


def list_epoch_folders(raw_dir: str) -> list[tuple[PaneId, EpochId, str]]:
    """Every epoch's folder."""
    return [
        (PaneId(pane), EpochId(epoch), f"{raw_dir}/{pane}/{epoch}")
        for pane in _list_numbered_folders(raw_dir)
        for epoch in _list_numbered_folders(f"{raw_dir}/{pane}")
    ]


def remove_empty_folders(
    folders: Iterable[tuple[PaneId, EpochId, str]], known: Mapping[EpochId, EpochProgress]
) -> None:
    """Of these folders those that are empty and whose epoch is over; ``known`` must have been asked after them."""
    for _, epoch, folder in folders:
        if epoch not in known or known[epoch].is_closed:
            with suppress(OSError):
                os.rmdir(folder)


def remove_pane_folders(raw_dir: str, panes: Iterable[PaneId]) -> None:
    """The empty folders of panes that are forgotten; a pane that lives may need its own at any moment."""
    for pane in panes:
        with suppress(OSError):
            os.rmdir(f"{raw_dir}/{pane}")


def find_highest_ids(raw_dir: str) -> tuple[PaneId, EpochId]:
    """The largest ids of which some folder is there; an id on disk must not be given to another."""
    epochs = [epoch for _, epoch, _ in list_epoch_folders(raw_dir)]
    return PaneId(max(_list_numbered_folders(raw_dir), default=0)), EpochId(max(epochs, default=0))


def list_panes_on_disk(raw_dir: str) -> set[PaneId]:
    """Panes of which some file is left."""
    return {PaneId(pane) for pane in _list_numbered_folders(raw_dir) if _list_numbered_folders(f"{raw_dir}/{pane}")}


def _list_epoch_segments(pane: PaneId, epoch: EpochId, folder: str) -> Iterator[StoredSegment]:
    behind = None
    found = []
    for start in reversed(list_segment_starts(folder)):
        with suppress(FileNotFoundError):
            segment = _inspect_segment(pane, epoch, folder, start, behind)
            behind = segment.size
            found.append(segment)
    return reversed(found)


def _inspect_segment(pane: PaneId, epoch: EpochId, folder: str, start: int, next_size: int | None) -> StoredSegment:
    path = build_raw_path(folder, start)
    is_packed = not os.path.exists(path)
    file = os.stat(f"{path}{COMPRESSED_SUFFIX}" if is_packed else path)
    times = get_file_size(build_index_path(folder, start))
    return StoredSegment(
        pane=pane,
        epoch=epoch,
        folder=folder,
        start=start,
        size=_read_compressed_size(folder, start) if is_packed else file.st_size,
        disk_bytes=file.st_size + times,
        written_at=file.st_mtime_ns,
        is_compressed=is_packed,
        is_masked=not file.st_mode & 0o200,
        next_size=next_size,
    )


def _read_compressed_size(folder: str, start: int) -> int:
    """A damaged file holds nothing that can be read; it goes when it is old."""
    try:
        with closing(open_segment_file(folder, start)) as file:
            return file.read_size()
    except FileNotFoundError:
        raise
    except OSError:
        return 0


def _list_numbered_folders(folder: str) -> list[int]:
    try:
        return sorted(int(name) for name in os.listdir(folder) if name.isascii() and name.isdigit())
    except (FileNotFoundError, NotADirectoryError):
        return []
