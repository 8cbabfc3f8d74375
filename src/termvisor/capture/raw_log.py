"""List the segment files of the raw log and select those to seal or delete.

Invariant: a segment that is being written, or whose bytes are not all stored as text, is neither sealed nor deleted.
So deletion removes only the start of a stream whose text is already stored, which leaves no gap.
"""

import contextlib
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
from termvisor.recorder.segment_log import SegmentReader
from termvisor.redaction.raw_bytes import EDGE_BYTES


class StoredSegment(Struct, frozen=True, kw_only=True):
    """A segment on disk: ``size`` bytes of the stream, occupying ``disk_bytes`` (compressed, including the index)."""

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
    """Bytes in the next segment; None for the newest segment."""

    @property
    def end(self) -> int:
        return self.start + self.size


class EpochProgress(Struct, frozen=True):
    """How many bytes of an epoch are stored as text, and whether it is closed."""

    committed: int
    is_closed: bool


def list_segments(raw_dir: str) -> list[StoredSegment]:
    """Return all segments, grouped by epoch and in stream order."""
    return [segment for folder in list_epoch_folders(raw_dir) for segment in _list_epoch_segments(*folder)]


def is_complete(segment: StoredSegment, progress_by_epoch: Mapping[EpochId, EpochProgress]) -> bool:
    """Return True if a segment is no longer written and its text is stored, or if its epoch is unknown to the store."""
    epoch = progress_by_epoch.get(segment.epoch)
    if epoch is None or (segment.is_compressed and (segment.next_size is not None or epoch.is_closed)):
        return True
    return segment.end <= epoch.committed and (epoch.is_closed or segment.next_size is not None)


def is_sealable(segment: StoredSegment, progress_by_epoch: Mapping[EpochId, EpochProgress]) -> bool:
    """Return True if a segment is complete and followed by enough bytes to find a secret that spans its end."""
    epoch = progress_by_epoch.get(segment.epoch)
    has_edge = epoch is None or epoch.is_closed or (segment.next_size or 0) >= EDGE_BYTES
    return bool(segment.size) and has_edge and is_complete(segment, progress_by_epoch)


def count_missing_bytes(
    segments: Iterable[StoredSegment], progress_by_epoch: Mapping[EpochId, EpochProgress]
) -> dict[PaneId, int]:
    """Return how many bytes another program cut or deleted from the raw log of each pane.

    Retention deletes only the start of a stream. ``progress_by_epoch`` may be newer than ``segments``.
    """
    missing: dict[PaneId, int] = {}
    ends: dict[EpochId, StoredSegment] = {}
    for segment in segments:
        if (before := ends.get(segment.epoch)) is not None:
            missing[segment.pane] = missing.get(segment.pane, 0) + segment.start - before.end
        ends[segment.epoch] = segment
    for epoch, last in ends.items():
        committed = progress_by_epoch[epoch].committed if epoch in progress_by_epoch else 0
        if committed > last.end:
            # The segment may have grown since it was listed.
            lost = committed - _measure_stream(last.folder)
            missing[last.pane] = missing.get(last.pane, 0) + max(0, lost)
    return {pane: count for pane, count in missing.items() if count}


def _measure_stream(folder: str) -> int:
    with closing(SegmentReader(folder)) as reader:
        return reader.read_size()


def select_older_than(segments: Iterable[StoredSegment], before: int) -> list[StoredSegment]:
    return [segment for segment in segments if segment.written_at < before]


def select_beyond_pane_limit(segments: Iterable[StoredSegment], limit: int) -> list[StoredSegment]:
    """Return the segments older than the newest ``limit`` bytes of their pane."""
    newer: dict[PaneId, int] = {}
    selected = []
    for segment in sorted(segments, key=lambda each: (each.epoch, each.start), reverse=True):
        if newer.get(segment.pane, 0) >= limit:
            selected.append(segment)
        newer[segment.pane] = newer.get(segment.pane, 0) + segment.size
    return selected


def select_oldest(segments: Iterable[StoredSegment], bytes_to_free: int) -> list[StoredSegment]:
    """Return the oldest segments of all panes that together free ``bytes_to_free`` on disk."""
    selected = []
    for segment in sorted(segments, key=lambda each: each.written_at):
        if bytes_to_free <= 0:
            break
        selected.append(segment)
        bytes_to_free -= segment.disk_bytes
    return selected


def list_epoch_folders(raw_dir: str) -> list[tuple[PaneId, EpochId, str]]:
    """Return the pane, epoch and path of every epoch folder."""
    return [
        (PaneId(pane), EpochId(epoch), f"{raw_dir}/{pane}/{epoch}")
        for pane in _list_numbered_folders(raw_dir)
        for epoch in _list_numbered_folders(f"{raw_dir}/{pane}")
    ]


def remove_empty_folders(
    folders: Iterable[tuple[PaneId, EpochId, str]], progress_by_epoch: Mapping[EpochId, EpochProgress]
) -> None:
    """Remove the empty folders of closed epochs.

    ``progress_by_epoch`` must have been read after ``folders``: an epoch opened in between would look unknown.
    """
    for _, epoch, folder in folders:
        if epoch not in progress_by_epoch or progress_by_epoch[epoch].is_closed:
            with suppress(OSError):  # not empty
                os.rmdir(folder)


def remove_pane_folders(raw_dir: str, panes: Iterable[PaneId]) -> None:
    """Remove the empty folders of deleted panes only: the recorder may need the folder of a live pane at any time."""
    for pane in panes:
        # Not empty, or already removed.
        with suppress(OSError):
            os.rmdir(f"{raw_dir}/{pane}")


def find_highest_ids(raw_dir: str) -> tuple[PaneId, EpochId]:
    """Return the highest pane and epoch ids that have a folder, because ids on disk must not be reused."""
    epochs = [epoch for _, epoch, _ in list_epoch_folders(raw_dir)]
    return PaneId(max(_list_numbered_folders(raw_dir), default=0)), EpochId(max(epochs, default=0))


def list_panes_on_disk(raw_dir: str) -> set[PaneId]:
    """Return the panes that have an epoch folder."""
    return {PaneId(pane) for pane in _list_numbered_folders(raw_dir) if _list_numbered_folders(f"{raw_dir}/{pane}")}


def _list_epoch_segments(pane: PaneId, epoch: EpochId, folder: str) -> Iterator[StoredSegment]:
    next_size = None
    segments = []
    for start in reversed(list_segment_starts(folder)):
        with suppress(FileNotFoundError):  # deleted meanwhile
            segment = _inspect_segment(pane, epoch, folder, start, next_size)
            next_size = segment.size
            segments.append(segment)
    return reversed(segments)


def _inspect_segment(pane: PaneId, epoch: EpochId, folder: str, start: int, next_size: int | None) -> StoredSegment:
    path = build_raw_path(folder, start)
    is_compressed = not os.path.exists(path)
    file = os.stat(f"{path}{COMPRESSED_SUFFIX}" if is_compressed else path)
    index_bytes = get_file_size(build_index_path(folder, start))
    return StoredSegment(
        pane=pane,
        epoch=epoch,
        folder=folder,
        start=start,
        size=_read_compressed_size(folder, start) if is_compressed else file.st_size,
        disk_bytes=file.st_size + index_bytes,
        written_at=file.st_mtime_ns,
        is_compressed=is_compressed,
        is_masked=not file.st_mode & 0o200,
        next_size=next_size,
    )


def _read_compressed_size(folder: str, start: int) -> int:
    """Return the uncompressed size, or 0 for a damaged file."""
    try:
        with closing(open_segment_file(folder, start)) as file:
            return file.read_size()
    except FileNotFoundError:  # deleted meanwhile: the caller skips it
        raise
    except OSError:
        # A damaged file is kept until it is old enough to be deleted.
        return 0


def _list_numbered_folders(folder: str) -> list[int]:
    try:
        return sorted(int(name) for name in os.listdir(folder) if name.isascii() and name.isdigit())
    except (FileNotFoundError, NotADirectoryError):
        return []


PROBE_BYTES = 1 << 20
"""Size of the test write. Capturing starts again once it succeeds."""
_MIN_RETRY_DELAY_S, _MAX_RETRY_DELAY_S = 1.0, 60.0


class DiskSpaceProbe:
    """Test for free disk space; ``write_error`` is why the last write failed, or empty while writing works.

    All times ``now`` are from the monotonic clock.
    """

    def __init__(self, folder: str):
        self._folder = folder
        self._retry_delay = _MIN_RETRY_DELAY_S
        self._next_try_at = self._last_success_at = 0.0
        self.write_error = ""

    @property
    def problem(self) -> str:
        """The alert text while nothing can be written; empty otherwise."""
        reason = self.write_error
        what = "pane output is not captured until there is space"
        return f"the raw log cannot be written ({reason}): {what}" if reason else ""

    def report_write_failure(self, now: float) -> None:
        """Record that a write failed; double the retry delay if a test write succeeded recently."""
        if not self.write_error:
            was_probe_wrong = self._last_success_at and now - self._last_success_at < _MAX_RETRY_DELAY_S
            doubled = min(2 * self._retry_delay, _MAX_RETRY_DELAY_S)
            self._retry_delay = doubled if was_probe_wrong else _MIN_RETRY_DELAY_S
            self._next_try_at = now + self._retry_delay
        self.write_error = self.write_error or "a write failed"

    def has_space(self, now: float) -> bool:
        if self.write_error and now >= self._next_try_at:
            self._next_try_at = now + self._retry_delay
            self.write_error = _try_write(f"{self._folder}.room")
            self._last_success_at = now
        return not self.write_error


def _try_write(path: str) -> str:
    """Write PROBE_BYTES to a temporary file and return the error text, or "" on success."""
    try:
        with open(path, "wb", buffering=0) as file:
            left = PROBE_BYTES
            while left > 0:
                left -= file.write(bytes(min(left, 1 << 16)))
    except OSError as error:
        return error.strerror or str(error)
    finally:
        with contextlib.suppress(OSError):  # the file was never created
            os.unlink(path)
    return ""
