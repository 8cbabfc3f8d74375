"""Restore a database backup in a worker process, so that a client never loads the database library."""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from termvisor.errors import Conflict, StorageError
from termvisor.model.maintenance import RestoreSummary
from termvisor.protocol.error_line import parse_last_error
from termvisor.settings import Paths, get_environment, make_instance_folders
from termvisor.system import lock_file
from termvisor.system.subprocesses import run_and_capture

_RESTORE_TIMEOUT_S = 3600.0


@contextmanager
def hold_daemon_lock(paths: Paths) -> Iterator[None]:
    """Hold the daemon's lock, so that no daemon starts meanwhile. Raises Conflict if one is running."""
    make_instance_folders(paths)
    lock = lock_file.acquire_lock(paths.daemon_lock)
    if lock is None:
        pid = lock_file.read_lock_holder(paths.daemon_lock)
        raise Conflict(f"the daemon is running (pid {pid})", hint="Stop it with `visor down`, then restore.")
    try:
        yield
    finally:
        os.close(lock)


async def exchange_database(paths: Paths, file: str, *, is_dry_run: bool = False) -> RestoreSummary:
    """Replace the database with this backup, or only compare them. Raises the worker's own error."""
    flags = ["--dry-run"] if is_dry_run else []
    command = [sys.executable, "-m", "termvisor.store.maintenance.restore", file, paths.database, *flags]
    status, output, errors = await asyncio.to_thread(
        run_and_capture, command, timeout_s=_RESTORE_TIMEOUT_S, env=get_environment()
    )
    if status:
        text = errors.decode("utf-8", "replace")
        raise parse_last_error(text) or StorageError(
            f"the restore worker failed: {text.strip().rpartition(chr(10))[2]}"
        )
    return msgspec.json.decode(output, type=RestoreSummary)
