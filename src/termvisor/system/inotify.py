"""Hears from the kernel that something changed in a folder: inotify, through the C library.

One instance serves everybody: the kernel gives out few. macOS has no inotify; there, and where the kernel has no watch
left, `hear` raises OSError and the caller looks by itself.
"""

import asyncio
import contextlib
import ctypes
import errno
import os
import struct
from collections.abc import Callable

from msgspec import Struct

_MODIFY, _CLOSE_WRITE, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x2, 0x8, 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF, _UNMOUNT, _OVERFLOW, _IGNORED, _IS_FOLDER = 0x400, 0x800, 0x2000, 0x4000, 0x8000, 0x40000000
_ONLY_FOLDERS = 0x01000000
_OF_ITSELF = _DELETE_SELF | _MOVE_SELF

ARRIVALS = _CREATE | _MOVED_TO | _OF_ITSELF
"""Only what comes into the folder."""
CHANGES = ARRIVALS | _MODIFY | _CLOSE_WRITE | _MOVED_FROM | _DELETE
"""All that happens to the files in it."""

_HEAD = struct.Struct("iIII")
_BUFFER = 1 << 16


class Stir(Struct, frozen=True):
    """Something happened to ``name`` in a folder. Without a name: anything may have happened."""

    name: str = ""
    is_folder: bool = False


class Hearing(Struct, eq=False):
    """One folder that somebody hears."""

    number: int
    mask: int
    told: Callable[[Stir], None]


class Inotify:
    """Raises OSError where the kernel has no inotify, or no instance left."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None, use_errno=True)
        if not hasattr(self._library, "inotify_init1"):
            raise OSError(errno.ENOSYS, "this system has no inotify")
        self._handle = _checked(self._library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        self._hearings: dict[int, list[Hearing]] = {}
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._handle, self._on_readable)
        self.overflows = 0

    def hear(self, folder: str, mask: int, told: Callable[[Stir], None]) -> Hearing:
        """Raises OSError: no such folder, not ours to see, or no watch left (ENOSPC)."""
        number = self._add(folder, mask)
        shared = self._hearings.setdefault(number, [])
        others = _union(shared)
        if others & ~mask:
            self._add(folder, mask | others)  # the kernel's watch is one for all, and the last mask counts
        hearing = Hearing(number, mask, told)
        shared.append(hearing)
        return hearing

    def leave(self, hearing: Hearing) -> None:
        shared = self._hearings.get(hearing.number, [])
        if hearing in shared:
            shared.remove(hearing)
            if not shared:
                self._forget(hearing.number)

    def close(self) -> None:
        self._loop.remove_reader(self._handle)
        os.close(self._handle)
        self._hearings.clear()

    def _add(self, folder: str, mask: int) -> int:
        return _checked(self._library.inotify_add_watch(self._handle, os.fsencode(folder), mask | _ONLY_FOLDERS))

    def _forget(self, number: int) -> None:
        self._hearings.pop(number, None)
        self._library.inotify_rm_watch(self._handle, number)  # fails when the folder is gone, and with it the watch

    def _on_readable(self) -> None:
        with contextlib.suppress(BlockingIOError):
            data = os.read(self._handle, _BUFFER)
            place = 0
            while place < len(data):
                number, mask, _, length = _HEAD.unpack_from(data, place)
                place += _HEAD.size + length
                self._happened(number, mask, os.fsdecode(data[place - length : place].rstrip(b"\0")))

    def _happened(self, number: int, mask: int, name: str) -> None:
        if mask & _OVERFLOW:
            self.overflows += 1
            self._tell([one for shared in self._hearings.values() for one in shared], Stir())
        elif mask & (_OF_ITSELF | _IGNORED | _UNMOUNT):
            lost = self._hearings.get(number, [])
            self._forget(number)
            self._tell(lost, Stir())
        else:
            stir = Stir(name, bool(mask & _IS_FOLDER))
            self._tell([one for one in self._hearings.get(number, ()) if one.mask & mask], stir)

    def _tell(self, hearings: list[Hearing], stir: Stir) -> None:
        for one in hearings:
            one.told(stir)


def _union(hearings: list[Hearing]) -> int:
    mask = 0
    for one in hearings:
        mask |= one.mask
    return mask


def _checked(answer: int) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer
