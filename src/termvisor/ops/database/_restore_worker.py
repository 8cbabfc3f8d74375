"""Has a copy put in the place of the database by a process of its own: the database's library loads there only."""

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
    """Hold the daemon's own lock: none runs, and none starts meanwhile."""
    make_instance_folders(paths)
    held = lock_file.acquire_lock(paths.daemon_lock)
    if held is None:
        pid = lock_file.read_lock_holder(paths.daemon_lock)
        raise Conflict(f"a daemon runs (pid {pid})", hint="`visor down` stops it; then restore.")
    try:
        yield
    finally:
        os.close(held)


async def exchange_database(paths: Paths, file: str, *, is_dry_run: bool = False) -> RestoreSummary:
    """What was exchanged, or would be; the other process's complaint is ours."""
    wish = ["--dry-run"] if is_dry_run else []
    command = [sys.executable, "-m", "termvisor.store.maintenance.restore", file, paths.database, *wish]
    status, output, errors = await asyncio.to_thread(
        run_and_capture, command, timeout_s=_RESTORE_TIMEOUT_S, env=get_environment()
    )
    if status:
        text = errors.decode("utf-8", "replace")
        raise parse_last_error(text) or StorageError(
            f"the copy could not be put back: {text.strip().splitlines()[-1:]}"
        )
    return msgspec.json.decode(output, type=RestoreSummary)
