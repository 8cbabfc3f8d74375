"""Code shared by all source readers: the contract, the result of a scan, and the listing of a watched folder.

`SourceReader` is the contract of `source_watcher`; `WatchedFilesReader` is the base of the readers of an adapter's
`WatchedPath`. Files are listed with their fingerprints and only opened if they changed.
"""

import contextlib
import os
import re
import stat
from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it
from collections.abc import Collection, Iterator
from typing import Protocol

from msgspec import Struct, field

from termvisor.agents.adapters.adapter import SourceRecord, WatchedPath
from termvisor.clock import NS, Clock
from termvisor.system.files import open_regular_file

# Delay before a source that is being written is scanned again.
RESCAN_DELAY_S = 0.02
# Maximum number of folders in a recursive watch. Files in others are ignored, which the source's health reports.
_MAX_FOLDERS = 2000


class SourceScanResult(Struct, kw_only=True):
    """The records of one scan, and where and when to look for the next change."""

    records: list[SourceRecord] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    """The folders to watch with inotify."""
    awaited_folder: str = ""
    """The existing folder in which the missing watched folder will appear; empty if the watched folder exists."""
    rescan_after_s: float | None = None
    """Scan again after this delay even without an inotify event."""
    is_full_scan: bool = True
    """Everything was scanned, so ``folders`` is complete."""
    dropped: int = 0
    detail: str = ""
    """A problem to show to the user."""


class SourceReader(Protocol):
    """Reads one source. Scans run in a thread, one at a time."""

    source: str
    where: str

    def is_relevant_path(self, path: str) -> bool:
        """Return True if a change at this path requires a scan. Called on the event loop, also during a scan."""

    def scan(self, changed_paths: Collection[str] | None) -> SourceScanResult:
        """Read what changed at these paths, or everywhere if None."""

    def confirm_stored(self) -> None:
        """Confirm that the records of the last scan are stored."""


class FileFingerprint(Struct, frozen=True):
    """Identity, size and mtime of a file. If any of them differs, the file has changed."""

    inode: int
    size: int
    changed_at: int


class WatchedFilesReader:
    """The base of readers of matching files in a folder."""

    def __init__(self, watch: WatchedPath, clock: Clock):
        self.source, self.where = watch.source, f"{watch.folder}/{watch.pattern}"
        self._watch, self._clock = watch, clock
        self._name_pattern = compile_name_pattern(watch.pattern)

    def is_relevant_path(self, path: str) -> bool:
        return self._name_pattern.fullmatch(os.path.basename(path)) is not None

    def confirm_stored(self) -> None:
        """Do nothing: most readers have no read position."""

    def _can_change_unnoticed(self, fingerprint: FileFingerprint) -> bool:
        """Return True if the file changed within the last second and may change again with the same size and mtime."""
        return self._clock.now() - fingerprint.changed_at <= NS

    def _build_record(self, path: str, data: bytes, event_id: str) -> SourceRecord:
        text = data.decode("utf-8", "replace")
        return SourceRecord(
            source=self.source, text=text, at=self._clock.now(), path=path, hint=self._watch.hint, event_id=event_id
        )


class FolderScan(Struct):
    result: SourceScanResult = field(default_factory=SourceScanResult)
    """The folders of the watch, without records yet."""
    files: dict[str, FileFingerprint] = field(default_factory=dict)
    """The matching files, by path."""
    other_paths_by_inode: dict[int, str] = field(default_factory=dict)
    """Paths that do not match, by inode: a followed file may have been renamed."""


def scan_folder(watch: WatchedPath) -> FolderScan:
    """List the files of a watch; only in folders that contain its required sibling, if it names one."""
    scan, name_pattern = FolderScan(), compile_name_pattern(watch.pattern)
    pending = [watch.folder] if os.path.isdir(watch.folder) else []
    if not pending:
        scan.result.awaited_folder = find_existing_parent(watch.folder)
    while pending:
        folder = pending.pop()
        scan.result.folders.append(folder)
        entries = _list_entries(folder)
        has_sibling = not watch.required_sibling or any(entry.name == watch.required_sibling for entry in entries)
        for entry in entries:
            if not (has_sibling and name_pattern.fullmatch(entry.name)):
                scan.other_paths_by_inode[entry.inode()] = entry.path
            elif (fingerprint := read_fingerprint(entry.path)) is not None:
                scan.files[entry.path] = fingerprint
        if watch.is_deep:
            pending += [entry.path for entry in entries if _is_real_folder(entry)]
        if pending and len(scan.result.folders) >= _MAX_FOLDERS:
            scan.result.detail = f"more than {_MAX_FOLDERS} folders: the others are not watched"
            break
    return scan


def compile_name_pattern(text: str) -> re.Pattern[str]:
    """Compile a file name pattern in which only ``*`` is special."""
    return re.compile(".*".join(map(re.escape, text.split("*"))), re.DOTALL)


def read_fingerprint(path: str) -> FileFingerprint | None:
    """Return the fingerprint of a regular file; None if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        # Agents replace and remove their files at any time, also since the folder was listed.
        return None
    return FileFingerprint(status.st_ino, status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


@contextlib.contextmanager
def open_for_reading(path: str, *, follow_links: bool = True) -> Iterator[int]:
    """Open a regular file for reading, without blocking on a pipe. Raises OSError for anything else."""
    descriptor = open_regular_file(path, os.O_RDONLY | (0 if follow_links else os.O_NOFOLLOW))
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def compute_checksum(path: str, data: bytes) -> str:
    """Return the checksum of a record, which depends on its file as well."""
    return blake2b(os.fsencode(path) + data, digest_size=8).hexdigest()


def find_existing_parent(folder: str) -> str:
    parent = os.path.dirname(folder)
    while parent != "/" and not os.path.isdir(parent):
        parent = os.path.dirname(parent)
    return parent or "/"


def _list_entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:  # removed since it was listed, or not readable
        return []


def _is_real_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)  # a symlink may lead back to a parent folder
    except OSError:
        # The entry was removed since the folder was listed.
        return False
