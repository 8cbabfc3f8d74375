"""Which files in a folder fit, and where to listen for news of them. Files are looked at, not opened."""

import os
import re
import stat
from collections.abc import Iterator

from msgspec import Struct, field

from termvisor.agents.adapters.adapter import WatchedPath
from termvisor.system.regular_file import open_regular_file

_MAX_FOLDERS = 2000
"""Folders below one that is watched deep; what lies in further ones is not seen, and health says so."""


class FileFingerprint(Struct, frozen=True):
    """By which a change of a file shows."""

    inode: int
    size: int
    changed_at: int


class FolderScan(Struct):
    files: dict[str, FileFingerprint] = field(default_factory=dict)
    """Those that fit, by path."""
    other_paths_by_inode: dict[int, str] = field(default_factory=dict)
    """Paths of those that do not, by inode: one that fitted may have been renamed."""
    folders: list[str] = field(default_factory=list)
    awaited_folder: str = ""
    """Where the folder itself, or one above it, will appear; empty once it is there."""
    is_truncated: bool = False

    def scan(self, watch: WatchedPath) -> "FolderScan":
        fits = compile_name_pattern(watch.pattern)
        for folder in self._walk_folders(watch.folder, is_deep=watch.is_deep):
            entries = _list_entries(folder)
            is_ours = not watch.required_sibling or any(entry.name == watch.required_sibling for entry in entries)
            for entry in entries:
                self._add_entry(entry, is_match=is_ours and fits.fullmatch(entry.name) is not None)
        if not self.folders:
            self.awaited_folder = find_existing_parent(watch.folder)
        return self

    def _walk_folders(self, top: str, *, is_deep: bool) -> Iterator[str]:
        waiting = [top] if os.path.isdir(top) else []
        while waiting:
            if len(self.folders) >= _MAX_FOLDERS:
                self.is_truncated = True
                return
            folder = waiting.pop()
            self.folders.append(folder)
            yield folder
            if is_deep:
                waiting += [entry.path for entry in _list_entries(folder) if _is_real_folder(entry)]

    def _add_entry(self, entry: os.DirEntry[str], *, is_match: bool) -> None:
        if not is_match:
            self.other_paths_by_inode[entry.inode()] = entry.path
        elif (found := read_fingerprint(entry.path)) is not None:
            self.files[entry.path] = found


def compile_name_pattern(text: str) -> re.Pattern[str]:
    """Of a file's name; only ``*`` is special."""
    return re.compile(".*".join(map(re.escape, text.split("*"))), re.DOTALL)


def read_fingerprint(path: str) -> FileFingerprint | None:
    """None where no plain file is."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return FileFingerprint(found.st_ino, found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


def open_for_reading(path: str, *, follow_links: bool = True) -> int:
    """A descriptor to read a plain file. OSError for anything else; a pipe without a writer does not hold us up."""
    follow = 0 if follow_links else os.O_NOFOLLOW
    return open_regular_file(path, os.O_RDONLY | follow)


def find_existing_parent(folder: str) -> str:
    """The nearest folder above that is there."""
    above = os.path.dirname(folder)
    while above != "/" and not os.path.isdir(above):
        above = os.path.dirname(above)
    return above or "/"


def _list_entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:  # removed since we saw it, or not ours to see
        return []


def _is_real_folder(entry: os.DirEntry[str]) -> bool:
    """A link to a folder is not followed: it may lead back to where we are."""
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False
