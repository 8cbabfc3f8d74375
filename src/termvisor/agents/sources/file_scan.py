"""List the files of a watched folder that match its pattern, and the folders to watch. Files are not opened."""

import os
import re
import stat

from msgspec import Struct, field

from termvisor.agents.adapters.adapter import WatchedPath
from termvisor.agents.sources.reader import SourceScanResult
from termvisor.system.regular_file import open_regular_file

_MAX_FOLDERS = 2000
"""Limit of a recursive watch; files in further folders are ignored, and the source's health says so."""


class FileFingerprint(Struct, frozen=True):
    """Identity, size and mtime of a file: if one differs, the file changed."""

    inode: int
    size: int
    changed_at: int


class FolderScan(Struct):
    files: dict[str, FileFingerprint] = field(default_factory=dict)
    """The matching files, by path."""
    other_paths_by_inode: dict[int, str] = field(default_factory=dict)
    """Paths that do not match, by inode: a followed file may have been renamed."""
    folders: list[str] = field(default_factory=list)
    awaited_folder: str = ""
    """The existing folder in which the missing watched folder will appear; empty if the watched folder exists."""
    is_truncated: bool = False

    def to_result(self) -> SourceScanResult:
        """Return the result of a full scan, without records yet."""
        detail = f"more than {_MAX_FOLDERS} folders: the others are not watched" if self.is_truncated else ""
        return SourceScanResult(records=[], folders=self.folders, awaited_folder=self.awaited_folder, detail=detail)


def scan_folder(watch: WatchedPath) -> FolderScan:
    """List the files of a watch; only in folders that contain its required sibling, if it names one."""
    scan, name_pattern = FolderScan(), compile_name_pattern(watch.pattern)
    pending = [watch.folder] if os.path.isdir(watch.folder) else []
    while pending and not scan.is_truncated:
        folder = pending.pop()
        scan.folders.append(folder)
        entries = _list_entries(folder)
        has_sibling = not watch.required_sibling or any(entry.name == watch.required_sibling for entry in entries)
        for entry in entries:
            if not (has_sibling and name_pattern.fullmatch(entry.name)):
                scan.other_paths_by_inode[entry.inode()] = entry.path
            elif (fingerprint := read_fingerprint(entry.path)) is not None:
                scan.files[entry.path] = fingerprint
        if watch.is_deep:
            pending += [entry.path for entry in entries if _is_real_folder(entry)]
        scan.is_truncated = bool(pending) and len(scan.folders) >= _MAX_FOLDERS
    if not scan.folders:
        scan.awaited_folder = find_existing_parent(watch.folder)
    return scan


def compile_name_pattern(text: str) -> re.Pattern[str]:
    """Compile a file name pattern in which only ``*`` is special."""
    return re.compile(".*".join(map(re.escape, text.split("*"))), re.DOTALL)


def read_fingerprint(path: str) -> FileFingerprint | None:
    """Return the fingerprint of a regular file; None if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return FileFingerprint(status.st_ino, status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def open_for_reading(path: str, *, follow_links: bool = True) -> int:
    """Open a regular file for reading, without blocking on a pipe. Raises OSError for anything else."""
    return open_regular_file(path, os.O_RDONLY | (0 if follow_links else os.O_NOFOLLOW))


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
        return False
