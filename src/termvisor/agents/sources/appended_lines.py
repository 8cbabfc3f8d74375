"""Read the lines appended to matching files (watch kind ``lines``): each line becomes one record, once.

A file is identified by its inode: a renamed file is followed under its new name, and a file that replaces it is read
from the start. Files present at the first scan are resumed at the stored read position; without one they are read from
their end, unless the watch says ``from_start``.
"""

import contextlib
from collections.abc import Collection, Iterable

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import WatchedPath
from termvisor.agents.sources.read_positions import ReadPositions
from termvisor.agents.sources.source_reader import (
    FileFingerprint,
    FolderScan,
    SourceScanResult,
    WatchedFilesReader,
    compute_checksum,
    open_for_reading,
    read_fingerprint,
    scan_folder,
)
from termvisor.agents.sources.tail import READ_CHUNK_BYTES, FileTail
from termvisor.clock import Clock


class AppendedLinesReader(WatchedFilesReader):
    def __init__(self, watch: WatchedPath, clock: Clock, read_positions: ReadPositions | None = None):
        super().__init__(watch, clock)
        self._read_positions = read_positions
        self._tails_by_inode: dict[int, FileTail] = {}
        self._fully_read_files: dict[int, FileFingerprint] = {}
        """Files read to their end and unchanged since."""
        self._renamed_paths: set[str] = set()
        """Followed files whose new name no longer matches the pattern."""
        self._is_first_scan = True
        self._has_unread_data = False

    def is_relevant_path(self, path: str) -> bool:
        return super().is_relevant_path(path) or path in self._renamed_paths

    def scan(self, changed_paths: Collection[str] | None) -> SourceScanResult:
        # Any file may have unread data, so everything is scanned until there is none left.
        files = None if changed_paths is None or self._has_unread_data else self._find_known_files(changed_paths)
        if files is not None:
            return self._attach_read_position(self._read_files(SourceScanResult(is_full_scan=False), files))
        # Taken before the scan, so that a file that changes during it counts as changed since.
        began_at = self._clock.now()
        folder_scan = scan_folder(self._watch)
        result = folder_scan.result
        self._read_files(result, self._update_tracked_files(folder_scan))
        if self._read_positions is not None and not self._has_unread_data:
            self._read_positions.record_full_scan(began_at)
        return self._attach_read_position(result)

    def confirm_stored(self) -> None:
        if self._read_positions is not None:
            self._read_positions.save()

    def _attach_read_position(self, result: SourceScanResult) -> SourceScanResult:
        """Attach the read position to the last record, so that both are stored together."""
        if result.records and self._read_positions is not None:
            result.records[-1] = replace(result.records[-1], bookmark=self._read_positions.take_snapshot())
        return result

    def _find_known_files(self, paths: Collection[str]) -> list[tuple[str, FileFingerprint]] | None:
        """Return these files with their fingerprints; None if a relevant one is new or gone (needs a full scan)."""
        files = []
        for path in paths:
            fingerprint = read_fingerprint(path)
            if fingerprint is not None and fingerprint.inode in self._tails_by_inode:
                files.append((path, fingerprint))
            elif self.is_relevant_path(path):
                return None
        return files

    def _update_tracked_files(self, folder_scan: FolderScan) -> list[tuple[str, FileFingerprint]]:
        """Add new files, drop removed ones, and return those that have to be read."""
        files = dict(folder_scan.files)
        missing = self._tails_by_inode.keys() - {file.inode for file in files.values()}
        other_paths = folder_scan.other_paths_by_inode
        self._renamed_paths = {other_paths[inode] for inode in missing & other_paths.keys()}
        files |= {path: file for path in self._renamed_paths if (file := read_fingerprint(path))}
        present = {file.inode: file for file in files.values()}
        self._tails_by_inode = {
            inode: self._tails_by_inode.get(inode) or self._open_tail(file) for inode, file in present.items()
        }
        self._fully_read_files = {inode: file for inode, file in self._fully_read_files.items() if inode in present}
        self._is_first_scan = False
        return [(path, file) for path, file in files.items() if self._fully_read_files.get(file.inode) != file]

    def _open_tail(self, fingerprint: FileFingerprint) -> FileTail:
        if not self._is_first_scan:
            return FileTail()
        if self._read_positions is not None and self._read_positions.is_resumed:
            return self._read_positions.open_tail(fingerprint, from_start=self._watch.from_start)
        return FileTail(0 if self._watch.from_start else fingerprint.size)

    def _read_files(self, result: SourceScanResult, files: Iterable[tuple[str, FileFingerprint]]) -> SourceScanResult:
        """Read the files, oldest change first, up to a budget, because a long file must not delay the others."""
        budget = 4 * READ_CHUNK_BYTES
        self._has_unread_data = False
        for path, fingerprint in sorted(files, key=lambda file: file[1].changed_at):
            if budget > 0:
                budget -= self._read_file(result, path, fingerprint)
            else:
                self._has_unread_data = True
        result.rescan_after_s = 0.0 if self._has_unread_data else None
        return result

    def _read_file(self, result: SourceScanResult, path: str, fingerprint: FileFingerprint) -> int:
        tail = self._tails_by_inode[fingerprint.inode]
        dropped = tail.dropped
        with contextlib.ExitStack() as stack:
            try:
                descriptor = stack.enter_context(open_for_reading(path))
            except OSError as error:
                # One unreadable file does not stop the source. An error while reading does, and is retried.
                result.detail = f"cannot read {path}: {error.strerror or error}"
                return 0
            lines = tail.read_lines(descriptor)
            if self._read_positions is not None:
                self._read_positions.update_position(fingerprint.inode, tail, descriptor)
        result.records += [
            self._build_record(
                path, line.data.removesuffix(b"\r"), f"{compute_checksum(path, line.data)}@{line.end_offset}"
            )
            for line in lines
        ]
        result.dropped += tail.dropped - dropped
        self._has_unread_data = self._has_unread_data or tail.has_unread_data
        if tail.has_unread_data or self._can_change_unnoticed(fingerprint):
            self._fully_read_files.pop(fingerprint.inode, None)
        else:
            self._fully_read_files[fingerprint.inode] = fingerprint
        return sum(len(line.data) for line in lines)
