"""Lock an instance, so that one daemon listens in a runtime folder and one daemon writes a data folder.

Two daemons with the same data folder would each record every pane. The lock in the data folder names the runtime folder
of its holder, because that is how clients reach it.
"""

import os

from termvisor.errors import StateConflict
from termvisor.model.paths import Paths
from termvisor.system import files


class InstanceLock:
    """Both locks of an instance, held until release() or the end of the process."""

    def __init__(self, descriptors: list[int]):
        self._descriptors = descriptors

    def release(self) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors = []


def acquire_instance_lock(paths: Paths) -> InstanceLock | None:
    """Return the held locks, or None if another process holds one of them."""
    lock = InstanceLock([])
    for path in (paths.daemon_lock, paths.data_lock):
        descriptor = files.acquire_lock(path, paths.runtime_dir)
        if descriptor is None:
            lock.release()
            return None
        lock._descriptors.append(descriptor)
    return lock


def find_other_runtime_folder(paths: Paths) -> str | None:
    """Return the runtime folder of the process that holds the data folder, if it is not that of ``paths``."""
    if files.read_lock_holder(paths.data_lock) is None:
        return None
    other = files.read_lock_note(paths.data_lock)
    return other if other and other != paths.runtime_dir else None


def build_conflict(paths: Paths, hint: str) -> StateConflict:
    """Return the error that names the process which holds the instance, and how to reach it."""
    other = find_other_runtime_folder(paths)
    if other is None:
        pid = files.read_lock_holder(paths.daemon_lock) or files.read_lock_holder(paths.data_lock)
        return StateConflict(f"a daemon is already running (pid {pid})", hint=hint)
    pid = files.read_lock_holder(paths.data_lock)
    return StateConflict(
        f"the data folder {paths.data_dir} is used by a daemon (pid {pid}) with the runtime folder {other}",
        hint=f"Reach it with VISOR_RUNTIME_DIR={other}, or set VISOR_DATA_DIR to another folder for this one.",
        details={"pid": pid, "runtime_dir": other},
    )
