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
_FOLDER_ITSELF = _DELETE_SELF | _MOVE_SELF

ARRIVAL_EVENTS = _CREATE | _MOVED_TO | _FOLDER_ITSELF
"""Only what comes into the folder."""
CHANGE_EVENTS = ARRIVAL_EVENTS | _MODIFY | _CLOSE_WRITE | _MOVED_FROM | _DELETE
"""All that happens to the files in it."""

_EVENT_HEADER = struct.Struct("iIII")
_BUFFER_BYTES = 1 << 16


class FolderChange(Struct, frozen=True):
    """Something happened to ``name`` in a folder. Without a name: anything may have happened."""

    name: str = ""
    is_folder: bool = False


class FolderWatch(Struct, eq=False):
    """One folder that somebody hears."""

    watch_id: int
    mask: int
    on_change: Callable[[FolderChange], None]


class Inotify:
    """Raises OSError where the kernel has no inotify, or no instance left."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None, use_errno=True)
        if not hasattr(self._library, "inotify_init1"):
            raise OSError(errno.ENOSYS, "this system has no inotify")
        self._descriptor = _check_result(self._library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        self._watches_by_id: dict[int, list[FolderWatch]] = {}
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._descriptor, self._on_readable)
        self.overflows = 0

    def watch_folder(self, folder: str, mask: int, on_change: Callable[[FolderChange], None]) -> FolderWatch:
        """Raises OSError: no such folder, not ours to see, or no watch left (ENOSPC)."""
        number = self._add_kernel_watch(folder, mask)
        shared = self._watches_by_id.setdefault(number, [])
        others = _combine_masks(shared)
        if others & ~mask:
            self._add_kernel_watch(folder, mask | others)  # the kernel's watch is one for all, and the last mask counts
        hearing = FolderWatch(number, mask, on_change)
        shared.append(hearing)
        return hearing

    def unwatch_folder(self, watch: FolderWatch) -> None:
        shared = self._watches_by_id.get(watch.watch_id, [])
        if watch in shared:
            shared.remove(watch)
            if not shared:
                self._remove_kernel_watch(watch.watch_id)

    def close(self) -> None:
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)
        self._watches_by_id.clear()

    def _add_kernel_watch(self, folder: str, mask: int) -> int:
        return _check_result(
            self._library.inotify_add_watch(self._descriptor, os.fsencode(folder), mask | _ONLY_FOLDERS)
        )

    def _remove_kernel_watch(self, watch_id: int) -> None:
        self._watches_by_id.pop(watch_id, None)
        self._library.inotify_rm_watch(
            self._descriptor, watch_id
        )  # fails when the folder is gone, and with it the watch

    def _on_readable(self) -> None:
        with contextlib.suppress(BlockingIOError):
            data = os.read(self._descriptor, _BUFFER_BYTES)
            place = 0
            while place < len(data):
                number, mask, _, length = _EVENT_HEADER.unpack_from(data, place)
                place += _EVENT_HEADER.size + length
                self._process_event(number, mask, os.fsdecode(data[place - length : place].rstrip(b"\0")))

    def _process_event(self, watch_id: int, mask: int, name: str) -> None:
        if mask & _OVERFLOW:
            self.overflows += 1
            self._notify_watches([one for shared in self._watches_by_id.values() for one in shared], FolderChange())
        elif mask & (_FOLDER_ITSELF | _IGNORED | _UNMOUNT):
            lost = self._watches_by_id.get(watch_id, [])
            self._remove_kernel_watch(watch_id)
            self._notify_watches(lost, FolderChange())
        else:
            stir = FolderChange(name, bool(mask & _IS_FOLDER))
            self._notify_watches([one for one in self._watches_by_id.get(watch_id, ()) if one.mask & mask], stir)

    def _notify_watches(self, watches: list[FolderWatch], change: FolderChange) -> None:
        for one in watches:
            one.on_change(change)


def _combine_masks(watches: list[FolderWatch]) -> int:
    mask = 0
    for one in watches:
        mask |= one.mask
    return mask


def _check_result(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
