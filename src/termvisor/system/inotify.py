"""Watch folders for changes with inotify, through the C library.

One instance serves all callers, because the kernel limits instances per user. macOS has no inotify; there, and when the
kernel has no watches left, OSError is raised and the caller must poll.
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
"""Files that appear in the folder."""
CHANGE_EVENTS = ARRIVAL_EVENTS | _MODIFY | _CLOSE_WRITE | _MOVED_FROM | _DELETE
"""Every change of files in the folder."""

_EVENT_HEADER = struct.Struct("iIII")
_BUFFER_BYTES = 1 << 16


class FolderChange(Struct, frozen=True):
    """A change of the file ``name`` in a folder, or of any number of files if the name is empty."""

    name: str = ""
    is_folder: bool = False


class FolderWatch(Struct, eq=False):
    """The registration of one caller for one folder."""

    watch_id: int
    mask: int
    on_change: Callable[[FolderChange], None]


class Inotify:
    """One inotify instance. Raises OSError if the kernel has no inotify, or no instance left (EMFILE)."""

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
        """Call ``on_change`` for changes in a folder.

        Raises OSError if the folder does not exist or cannot be read, or if no watch is left (ENOSPC).
        """
        watch_id = self._add_kernel_watch(folder, mask)
        shared = self._watches_by_id.setdefault(watch_id, [])
        other_masks = _combine_masks(shared)
        if other_masks & ~mask:
            # The kernel keeps one watch per folder, with the last mask, so include what the other callers need.
            self._add_kernel_watch(folder, mask | other_masks)
        watch = FolderWatch(watch_id, mask, on_change)
        shared.append(watch)
        return watch

    def unwatch_folder(self, watch: FolderWatch) -> None:
        """Remove a registration, and the kernel's watch if it was the last one for the folder."""
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
        # Fails if the folder was removed, because that removes the watch as well.
        self._library.inotify_rm_watch(self._descriptor, watch_id)

    def _on_readable(self) -> None:
        with contextlib.suppress(BlockingIOError):
            data = os.read(self._descriptor, _BUFFER_BYTES)
            position = 0
            while position < len(data):
                watch_id, mask, _, length = _EVENT_HEADER.unpack_from(data, position)
                position += _EVENT_HEADER.size + length
                self._process_event(watch_id, mask, os.fsdecode(data[position - length : position].rstrip(b"\0")))

    def _process_event(self, watch_id: int, mask: int, name: str) -> None:
        change = FolderChange()
        if mask & _OVERFLOW:  # events were dropped, so any folder may have changed
            self.overflows += 1
            watches = [watch for shared in self._watches_by_id.values() for watch in shared]
        elif mask & (_FOLDER_ITSELF | _IGNORED | _UNMOUNT):
            watches = self._watches_by_id.get(watch_id, [])
            self._remove_kernel_watch(watch_id)
        else:
            change = FolderChange(name, bool(mask & _IS_FOLDER))
            watches = [watch for watch in self._watches_by_id.get(watch_id, ()) if watch.mask & mask]
        for watch in watches:
            watch.on_change(change)


def _combine_masks(watches: list[FolderWatch]) -> int:
    mask = 0
    for watch in watches:
        mask |= watch.mask
    return mask


def _check_result(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
