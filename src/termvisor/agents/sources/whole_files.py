"""Read matching files as a whole (watch kind ``files``): a changed file is a record, a removed one an empty record.

A file is reported once it is complete: JSON if it parses, any other file if it did not change between two scans. Files
present at the first scan are reported as well: they hold the agent's current state.
"""

from collections.abc import Collection

import msgspec

from termvisor.agents.adapters.adapter import WatchedPath
from termvisor.agents.sources.source_reader import (
    RESCAN_DELAY_S,
    FileFingerprint,
    SourceScanResult,
    WatchedFilesReader,
    compute_checksum,
    open_for_reading,
    read_fingerprint,
    scan_folder,
)
from termvisor.clock import Clock

MAX_FILE_BYTES = 1 << 20
# Scans of an incomplete file. The delay doubles each time: 20 ms to 1.3 s, 2.5 s in total.
_MAX_READ_ATTEMPTS = 7


class WholeFilesReader(WatchedFilesReader):
    def __init__(self, watch: WatchedPath, clock: Clock):
        super().__init__(watch, clock)
        self._is_json = watch.pattern.endswith(".json")
        self._settled_files: dict[str, FileFingerprint] = {}
        """Files that were reported or given up, and are unchanged since."""
        self._reported_ids: dict[str, str] = {}
        """The id of the last record of each file."""
        self._incomplete_files: dict[str, tuple[FileFingerprint, int]] = {}
        """Incomplete files: their last fingerprint, and the number of retries."""

    def scan(self, changed_paths: Collection[str] | None) -> SourceScanResult:
        if changed_paths is None:
            folder_scan = scan_folder(self._watch)
            result, files = folder_scan.result, folder_scan.files
            removed = (self._reported_ids | self._settled_files | self._incomplete_files).keys() - files.keys()
        else:
            result = SourceScanResult(is_full_scan=False)
            paths = set(filter(self.is_relevant_path, changed_paths)) | self._incomplete_files.keys()
            files = {path: fingerprint for path in paths if (fingerprint := read_fingerprint(path)) is not None}
            removed = paths - files.keys()
        self._read_changed_files(result, files)
        self._report_removed(result, removed)
        result.rescan_after_s = min(
            (RESCAN_DELAY_S * 2**retries for _, retries in self._incomplete_files.values()), default=None
        )
        return result

    def _report_removed(self, result: SourceScanResult, removed_paths: Collection[str]) -> None:
        for path in sorted(removed_paths):
            self._settled_files.pop(path, None)
            self._incomplete_files.pop(path, None)
            if last_id := self._reported_ids.pop(path, ""):
                result.records.append(self._build_record(path, b"", f"{last_id}-gone"))

    def _read_changed_files(self, result: SourceScanResult, files: dict[str, FileFingerprint]) -> None:
        changed = [(path, file) for path, file in files.items() if self._settled_files.get(path) != file]
        for path, fingerprint in sorted(changed, key=lambda file: file[1].changed_at):
            try:
                self._read_file(result, path, fingerprint)
            except OSError as error:
                # One unreadable file must not hide the others of the source; its health names it.
                result.detail = f"cannot read {path}: {error.strerror or error}"

    def _read_file(self, result: SourceScanResult, path: str, fingerprint: FileFingerprint) -> None:
        data = None if fingerprint.size > MAX_FILE_BYTES else _read_bytes(path)
        if data is None or len(data) > MAX_FILE_BYTES:
            self._give_up(result, path, fingerprint, f"{path} is larger than {MAX_FILE_BYTES:,} bytes")
        elif self._is_complete(path, fingerprint, data):
            self._report_text(result, path, fingerprint, data)
        else:
            self._retry_later(result, path, fingerprint)

    def _is_complete(self, path: str, fingerprint: FileFingerprint, data: bytes) -> bool:
        if self._is_json:
            return _is_valid_json(data)
        last, retries = self._incomplete_files.get(path, (None, 0))
        return last == fingerprint or retries >= _MAX_READ_ATTEMPTS or not self._can_change_unnoticed(fingerprint)

    def _retry_later(self, result: SourceScanResult, path: str, fingerprint: FileFingerprint) -> None:
        _, retries = self._incomplete_files.get(path, (None, -1))
        self._incomplete_files[path] = (fingerprint, retries + 1)
        if retries >= _MAX_READ_ATTEMPTS:
            self._give_up(result, path, fingerprint, f"{path} is not valid JSON")

    def _give_up(self, result: SourceScanResult, path: str, fingerprint: FileFingerprint, reason: str) -> None:
        result.dropped += 1
        result.detail = reason
        self._incomplete_files.pop(path, None)
        self._settled_files[path] = fingerprint

    def _report_text(self, result: SourceScanResult, path: str, fingerprint: FileFingerprint, data: bytes) -> None:
        self._incomplete_files.pop(path, None)
        if self._can_change_unnoticed(fingerprint):
            self._settled_files.pop(path, None)
        else:
            self._settled_files[path] = fingerprint
        checksum = compute_checksum(path, data)
        # An agent may write the same content again, which is not a change.
        if self._reported_ids.get(path, "").partition("@")[0] != checksum:
            self._reported_ids[path] = f"{checksum}@{fingerprint.changed_at}"
            result.records.append(self._build_record(path, data, self._reported_ids[path]))


def _read_bytes(path: str) -> bytes:
    with open_for_reading(path) as descriptor, open(descriptor, "rb", closefd=False) as file:
        return file.read(MAX_FILE_BYTES + 1)


def _is_valid_json(data: bytes) -> bool:
    try:
        msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        # RecursionError: deeply nested JSON, which no agent writes, must not stop the source.
        return False
    return True
