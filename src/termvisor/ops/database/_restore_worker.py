"""Has a copy put in the place of the database by a process of its own: the database's library loads there only."""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from termvisor.errors import Conflict, StorageError
from termvisor.model.maintenance import Exchange
from termvisor.protocol.error_line import heard
from termvisor.settings import Places, environment, prepare
from termvisor.system import lock_file as lock
from termvisor.system.subprocesses import ask

_PATIENCE = 3600.0


@contextmanager
def no_daemon(places: Places) -> Iterator[None]:
    """Hold the daemon's own lock: none runs, and none starts meanwhile."""
    prepare(places)
    held = lock.take(places.daemon_lock)
    if held is None:
        pid = lock.holder(places.daemon_lock)
        raise Conflict(f"a daemon runs (pid {pid})", hint="`visor down` stops it; then restore.")
    try:
        yield
    finally:
        os.close(held)


async def exchanged(places: Places, file: str, *, is_dry_run: bool = False) -> Exchange:
    """What was exchanged, or would be; the other process's complaint is ours."""
    wish = ["--dry-run"] if is_dry_run else []
    command = [sys.executable, "-m", "termvisor.store.maintenance.restore", file, places.database, *wish]
    status, output, errors = await asyncio.to_thread(ask, command, timeout=_PATIENCE, env=environment())
    if status:
        text = errors.decode("utf-8", "replace")
        raise heard(text) or StorageError(f"the copy could not be put back: {text.strip().splitlines()[-1:]}")
    return msgspec.json.decode(output, type=Exchange)
