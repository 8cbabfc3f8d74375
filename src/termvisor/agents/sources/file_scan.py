"""Which files in a folder fit, and where to listen for news of them. Files are looked at, not opened."""

import os
import re
import stat
from collections.abc import Iterator

from msgspec import Struct, field

from termvisor.agents.adapters.adapter import Watch
from termvisor.system.regular_file import plain

_MOST_FOLDERS = 2000
"""Folders below one that is watched deep; what lies in further ones is not seen, and health says so."""


class Print(Struct, frozen=True):
    """By which a change of a file shows."""

    inode: int
    size: int
    changed_at: int


class Survey(Struct):
    files: dict[str, Print] = field(default_factory=dict)
    """Those that fit, by path."""
    others: dict[int, str] = field(default_factory=dict)
    """Paths of those that do not, by inode: one that fitted may have been renamed."""
    folders: list[str] = field(default_factory=list)
    awaited: str = ""
    """Where the folder itself, or one above it, will appear; empty once it is there."""
    is_cut: bool = False

    def take(self, watch: Watch) -> "Survey":
        fits = pattern(watch.pattern)
        for folder in self._folders(watch.folder, is_deep=watch.is_deep):
            entries = _entries(folder)
            is_ours = not watch.beside or any(entry.name == watch.beside for entry in entries)
            for entry in entries:
                self._sort(entry, is_fit=is_ours and fits.fullmatch(entry.name) is not None)
        if not self.folders:
            self.awaited = nearest(watch.folder)
        return self

    def _folders(self, top: str, *, is_deep: bool) -> Iterator[str]:
        waiting = [top] if os.path.isdir(top) else []
        while waiting:
            if len(self.folders) >= _MOST_FOLDERS:
                self.is_cut = True
                return
            folder = waiting.pop()
            self.folders.append(folder)
            yield folder
            if is_deep:
                waiting += [entry.path for entry in _entries(folder) if _is_folder(entry)]

    def _sort(self, entry: os.DirEntry[str], *, is_fit: bool) -> None:
        if not is_fit:
            self.others[entry.inode()] = entry.path
        elif (found := print_of(entry.path)) is not None:
            self.files[entry.path] = found


def pattern(text: str) -> re.Pattern[str]:
    """Of a file's name; only ``*`` is special."""
    return re.compile(".*".join(map(re.escape, text.split("*"))), re.DOTALL)


def print_of(path: str) -> Print | None:
    """None where no plain file is."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return Print(found.st_ino, found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


def opened(path: str, *, may_be_link: bool = True) -> int:
    """A descriptor to read a plain file. OSError for anything else; a pipe without a writer does not hold us up."""
    follow = 0 if may_be_link else os.O_NOFOLLOW
    return plain(path, os.O_RDONLY | follow)


def nearest(folder: str) -> str:
    """The nearest folder above that is there."""
    above = os.path.dirname(folder)
    while above != "/" and not os.path.isdir(above):
        above = os.path.dirname(above)
    return above or "/"


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:  # removed since we saw it, or not ours to see
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """A link to a folder is not followed: it may lead back to where we are."""
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False
