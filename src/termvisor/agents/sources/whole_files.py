"""The watch kind ``files``: when a file that fits changes, its whole text is a record; when it is gone, an empty one.

A file is read once it is whole: JSON when it can be parsed, anything else when it has not changed between two looks.
What is there at the first look is told as well: it is what the agent says now.
"""

import os
from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it
from collections.abc import Collection

import msgspec

from termvisor.agents.adapters.adapter import SourceRecord, WatchedPath
from termvisor.agents.sources.file_scan import (
    FileFingerprint,
    FolderScan,
    compile_name_pattern,
    open_for_reading,
    read_fingerprint,
)
from termvisor.agents.sources.reader import RESCAN_DELAY_S, SourceScanResult
from termvisor.clock import NS, Clock

MAX_FILE_BYTES = 1 << 20
_MAX_READ_ATTEMPTS = 7
"""Looks at a file that is not whole; each waits twice as long as the one before, two and a half seconds in all."""


class WholeFilesReader:
    def __init__(self, watch: WatchedPath, clock: Clock):
        self.source, self.where = watch.source, f"{watch.folder}/{watch.pattern}"
        self._watch, self._clock = watch, clock
        self._name_pattern = compile_name_pattern(watch.pattern)
        self._is_json = watch.pattern.endswith(".json")
        self._settled_files: dict[str, FileFingerprint] = {}
        """Files whose text was told, or given up, and that have been at rest since."""
        self._reported_ids: dict[str, str] = {}
        """What was told of each file, as the id of its record."""
        self._incomplete_files: dict[str, tuple[FileFingerprint, int]] = {}
        """Files that were not whole: as they were seen, and how often."""

    def is_relevant_path(self, path: str) -> bool:
        return self._name_pattern.fullmatch(os.path.basename(path)) is not None

    def scan(self, changed_paths: Collection[str] | None) -> SourceScanResult:
        if changed_paths is None:
            survey = FolderScan().scan(self._watch)
            detail = "some folders are not watched: too many" if survey.is_truncated else ""
            look = SourceScanResult(
                records=[], folders=survey.folders, awaited_folder=survey.awaited_folder, detail=detail
            )
            gone, files = (
                (self._reported_ids | self._settled_files | self._incomplete_files).keys() - survey.files.keys(),
                survey.files,
            )
        else:
            fitting = set(filter(self.is_relevant_path, changed_paths)) | self._incomplete_files.keys()
            found = {path: read_fingerprint(path) for path in fitting}
            look = SourceScanResult(records=[], is_full_scan=False)
            gone = {path for path, one in found.items() if one is None}
            files = {path: one for path, one in found.items() if one is not None}
        self._read_changed_files(look, files)
        self._report_removed(look, gone)
        look.rescan_after_s = min(
            (RESCAN_DELAY_S * 2**tries for _, tries in self._incomplete_files.values()), default=None
        )
        return look

    def confirm_stored(self) -> None:
        """Nothing is kept for it."""

    def _report_removed(self, result: SourceScanResult, removed_paths: Collection[str]) -> None:
        for path in sorted(removed_paths):
            self._settled_files.pop(path, None)
            self._incomplete_files.pop(path, None)
            if was := self._reported_ids.pop(path, ""):
                result.records.append(self._build_record(path, "", f"{was}-gone"))

    def _read_changed_files(self, result: SourceScanResult, files: dict[str, FileFingerprint]) -> None:
        changed = [(path, found) for path, found in files.items() if self._settled_files.get(path) != found]
        for path, found in sorted(changed, key=lambda each: each[1].changed_at):
            try:
                self._read_file(result, path, found)
            except OSError as error:
                result.detail = f"cannot read {path}: {error.strerror or error}"

    def _read_file(self, result: SourceScanResult, path: str, fingerprint: FileFingerprint) -> None:
        data = None if fingerprint.size > MAX_FILE_BYTES else _read_bytes(path)
        if data is None or len(data) > MAX_FILE_BYTES:
            self._give_up(result, path, fingerprint, f"{path} is longer than {MAX_FILE_BYTES:,} bytes")
        elif self._is_complete(path, fingerprint, data):
            self._report_text(result, path, fingerprint, data)
        else:
            self._retry_later(result, path, fingerprint)

    def _is_complete(self, path: str, fingerprint: FileFingerprint, data: bytes) -> bool:
        if self._is_json:
            return _is_valid_json(data)
        was, tries = self._incomplete_files.get(path, (None, 0))
        return was == fingerprint or tries >= _MAX_READ_ATTEMPTS or self._clock.now() - fingerprint.changed_at > NS

    def _retry_later(self, result: SourceScanResult, path: str, fingerprint: FileFingerprint) -> None:
        _, tries = self._incomplete_files.get(path, (None, -1))
        self._incomplete_files[path] = (fingerprint, tries + 1)
        if tries >= _MAX_READ_ATTEMPTS:
            self._give_up(result, path, fingerprint, f"{path} is no JSON")

    def _give_up(self, result: SourceScanResult, path: str, fingerprint: FileFingerprint, reason: str) -> None:
        result.dropped += 1
        result.detail = reason
        self._incomplete_files.pop(path, None)
        self._settled_files[path] = fingerprint

    def _report_text(self, result: SourceScanResult, path: str, fingerprint: FileFingerprint, data: bytes) -> None:
        self._incomplete_files.pop(path, None)
        if self._clock.now() - fingerprint.changed_at > NS:
            self._settled_files[path] = fingerprint
        else:
            self._settled_files.pop(path, None)  # it may change once more without its time showing it
        name = blake2b(os.fsencode(path) + data, digest_size=8).hexdigest()
        if self._reported_ids.get(path, "").partition("@")[0] != name:
            self._reported_ids[path] = f"{name}@{fingerprint.changed_at}"
            result.records.append(self._build_record(path, data.decode("utf-8", "replace"), self._reported_ids[path]))

    def _build_record(self, path: str, text: str, event_id: str) -> SourceRecord:
        watch = self._watch
        now = self._clock.now()
        return SourceRecord(source=watch.source, text=text, at=now, path=path, hint=watch.hint, event_id=event_id)


def _read_bytes(path: str) -> bytes:
    descriptor = open_for_reading(path)
    try:
        pieces = [os.read(descriptor, MAX_FILE_BYTES + 1)]
        while pieces[-1] and sum(map(len, pieces)) <= MAX_FILE_BYTES:
            pieces.append(os.read(descriptor, MAX_FILE_BYTES + 1))
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def _is_valid_json(data: bytes) -> bool:
    try:
        msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
