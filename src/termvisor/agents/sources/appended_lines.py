"""The watch kind ``lines``: every line that is added to a file that fits is a record, once.

A file is known by its inode: renamed, it is followed under its new name, and what takes its place is read from the
start. Files that were there at the first look begin where an earlier daemon stopped; of an agent that none knew, at
their end, unless the watch says otherwise.
"""

import os
from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it
from collections.abc import Collection, Iterable

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import SourceRecord, WatchedPath
from termvisor.agents.sources.file_scan import (
    FileFingerprint,
    FolderScan,
    compile_name_pattern,
    open_for_reading,
    read_fingerprint,
)
from termvisor.agents.sources.read_positions import ReadPositions
from termvisor.agents.sources.reader import SourceScanResult
from termvisor.agents.sources.tail import READ_CHUNK_BYTES, FileTail
from termvisor.clock import NS, Clock


class AppendedLinesReader:
    def __init__(self, watch: WatchedPath, clock: Clock, read_positions: ReadPositions | None = None):
        self.source, self.where = watch.source, f"{watch.folder}/{watch.pattern}"
        self._watch, self._clock, self._read_positions = watch, clock, read_positions
        self._name_pattern = compile_name_pattern(watch.pattern)
        self._tails_by_inode: dict[int, FileTail] = {}
        self._fully_read_files: dict[int, FileFingerprint] = {}
        """Files that are read to their end, and have been at rest since."""
        self._renamed_paths: set[str] = set()
        """Files that fitted once and are followed under a name that does not."""
        self._is_first_scan = True
        self._has_unread_data = False

    def is_relevant_path(self, path: str) -> bool:
        return self._name_pattern.fullmatch(os.path.basename(path)) is not None or path in self._renamed_paths

    def scan(self, changed_paths: Collection[str] | None) -> SourceScanResult:
        known = None if changed_paths is None or self._has_unread_data else self._find_known_files(changed_paths)
        if known is not None:
            return self._attach_read_position(self._read_files(SourceScanResult(records=[], is_full_scan=False), known))
        began_at = self._clock.now()
        survey = FolderScan().scan(self._watch)
        detail = "some folders are not watched: too many" if survey.is_truncated else ""
        look = SourceScanResult(records=[], folders=survey.folders, awaited_folder=survey.awaited_folder, detail=detail)
        self._read_files(look, self._update_tracked_files(survey))
        if self._read_positions is not None and not self._has_unread_data:
            self._read_positions.record_full_scan(began_at)
        return self._attach_read_position(look)

    def confirm_stored(self) -> None:
        if self._read_positions is not None:
            self._read_positions.save()

    def _attach_read_position(self, result: SourceScanResult) -> SourceScanResult:
        """How far we are is stored with the last of what we found."""
        if result.records and self._read_positions is not None:
            result.records[-1] = replace(result.records[-1], bookmark=self._read_positions.take_snapshot())
        return result

    def _find_known_files(self, paths: Collection[str]) -> list[tuple[str, FileFingerprint]] | None:
        """These files, where each of them is known; None where it takes a whole look to tell."""
        found = [(path, read_fingerprint(path)) for path in paths]
        files = [(path, one) for path, one in found if one and one.inode in self._tails_by_inode]
        strange = {path for path, one in found if not one or one.inode not in self._tails_by_inode}
        return None if any(map(self.is_relevant_path, strange)) else files

    def _update_tracked_files(self, folder_scan: FolderScan) -> list[tuple[str, FileFingerprint]]:
        """Takes up new files, forgets those that are gone; those to be read."""
        files = dict(folder_scan.files)
        unseen = self._tails_by_inode.keys() - {one.inode for one in files.values()}
        self._renamed_paths = {
            folder_scan.other_paths_by_inode[inode] for inode in unseen & folder_scan.other_paths_by_inode.keys()
        }
        files |= {path: found for path in self._renamed_paths if (found := read_fingerprint(path))}
        present = {one.inode: one for one in files.values()}
        self._tails_by_inode = {
            inode: self._tails_by_inode.get(inode) or self._open_tail(one) for inode, one in present.items()
        }
        self._fully_read_files = {inode: one for inode, one in self._fully_read_files.items() if inode in present}
        self._is_first_scan = False
        return [(path, one) for path, one in files.items() if self._fully_read_files.get(one.inode) != one]

    def _open_tail(self, fingerprint: FileFingerprint) -> FileTail:
        if not self._is_first_scan:
            return FileTail()
        if self._read_positions is not None and self._read_positions.is_resumed:
            return self._read_positions.open_tail(fingerprint, from_start=self._watch.from_start)
        return FileTail(0 if self._watch.from_start else fingerprint.size)

    def _read_files(self, result: SourceScanResult, files: Iterable[tuple[str, FileFingerprint]]) -> SourceScanResult:
        """Oldest change first; some of each, so that a long one does not hold up the others."""
        budget = 4 * READ_CHUNK_BYTES
        self._has_unread_data = False
        for path, found in sorted(files, key=lambda each: each[1].changed_at):
            if budget > 0:
                budget -= self._read_file(result, path, found)
            else:
                self._has_unread_data = True
        result.rescan_after_s = 0.0 if self._has_unread_data else None
        return result

    def _read_file(self, result: SourceScanResult, path: str, fingerprint: FileFingerprint) -> int:
        tail = self._tails_by_inode[fingerprint.inode]
        dropped = tail.dropped
        try:
            descriptor = open_for_reading(path)
        except OSError as error:
            result.detail = f"cannot read {path}: {error.strerror or error}"
            return 0
        try:
            lines = tail.read_lines(descriptor)
            if self._read_positions is not None:
                self._read_positions.update_position(fingerprint.inode, tail, descriptor)
        finally:
            os.close(descriptor)
        result.records += [self._build_record(path, line.data, line.end_offset) for line in lines]
        result.dropped += tail.dropped - dropped
        self._update_fully_read(tail, fingerprint)
        return sum(len(line.data) for line in lines)

    def _update_fully_read(self, tail: FileTail, fingerprint: FileFingerprint) -> None:
        """A file that changed just now may change once more without its time showing it."""
        self._has_unread_data = self._has_unread_data or tail.has_unread_data
        if tail.has_unread_data or self._clock.now() - fingerprint.changed_at < NS:
            self._fully_read_files.pop(fingerprint.inode, None)
        else:
            self._fully_read_files[fingerprint.inode] = fingerprint

    def _build_record(self, path: str, data: bytes, end: int) -> SourceRecord:
        return SourceRecord(
            source=self._watch.source,
            text=data.decode("utf-8", "replace").removesuffix("\r"),
            at=self._clock.now(),
            path=path,
            hint=self._watch.hint,
            event_id=f"{blake2b(os.fsencode(path) + data, digest_size=8).hexdigest()}@{end}",
        )
