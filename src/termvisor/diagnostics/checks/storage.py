"""Storage checks: the database is intact, and the data directory is writable and has free space."""

import asyncio
import os
import tempfile

from termvisor.clock import SystemClock
from termvisor.diagnostics.checks.check import BuiltinCheck, CheckContext, CheckFinding
from termvisor.system.worker import run_worker

_CHECK_TIMEOUT_S = 120.0
WARN_BYTES = 1_000_000_000
FAIL_BYTES = 100_000_000


class DatabaseCheck(BuiltinCheck):
    name = "database"
    doc = "The database opens, was not written by a newer version, and passes SQLite's integrity check."

    async def run(self, context: CheckContext) -> CheckFinding:
        path = context.paths.database
        if not os.path.exists(path):
            return self.report("skip", f"{path} is created at the first start")
        health = await context.get_health()
        if health is not None and not health.db_writable:
            hint = "Check the file's permissions and the free disk space."
            return self.report("fail", f"the daemon cannot write {path}", hint)
        # Runs in a worker: closing a second connection inside the daemon would drop the daemon's own POSIX locks.
        done = await asyncio.to_thread(
            run_worker, f"{__name__}:check_database_file", (path,), returns=str, timeout_s=_CHECK_TIMEOUT_S
        )
        if done.error:
            return self.report("fail", done.error.message, done.error.hint)
        if not done.values:
            return self.report("warn", f"the check failed: {done.last_error_line}")
        if done.values != ["ok"]:
            hint = "Stop the daemon and restore a backup with `visor db restore`; without one, move the file away."
            return self.report("fail", done.values[0], hint)
        return self.report("ok", f"{path} is intact")


def check_database_file(path: str) -> str:
    """Return ``ok`` or the damage found. Runs in a worker process. Raises VisorError if the file cannot be opened."""
    from termvisor.store import Store  # only the worker loads SQLite

    async def check() -> str:
        store = await Store.open(path, SystemClock())
        verdict = await store.check_integrity()
        await store.close()
        return verdict

    return asyncio.run(check())


class DiskSpaceCheck(BuiltinCheck):
    name = "disk"
    doc = "The data directory is writable and its disk has at least 1 GB free (less than 100 MB is a failure)."

    async def run(self, context: CheckContext) -> CheckFinding:
        folder = context.paths.data_dir
        if not os.path.isdir(folder):
            return self.report("skip", f"{folder} is created at the first start")
        try:
            # Permission bits are not enough: the file system may be mounted read-only, or the disk may be full.
            with tempfile.TemporaryFile(dir=folder) as probe:
                probe.write(b"visor")
        except OSError as error:
            hint = "Check its permissions, or set VISOR_DATA_DIR to another directory."
            return self.report("fail", f"{folder} is not writable: {error.strerror}", hint)
        usage = os.statvfs(folder)
        return self.judge_free_space(folder, usage.f_bavail * usage.f_frsize)

    def judge_free_space(self, folder: str, free_bytes: int) -> CheckFinding:
        message = f"{folder}: {free_bytes / 1e9:.1f} GB free"
        if free_bytes >= WARN_BYTES:
            return self.report("ok", message)
        hint = "Free some space, or set VISOR_DATA_DIR to a directory on another disk."
        return self.report("warn" if free_bytes >= FAIL_BYTES else "fail", message, hint)
