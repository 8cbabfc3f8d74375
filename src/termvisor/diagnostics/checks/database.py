"""The check `database`: the database opens and passes the integrity check.

It runs in a child process: closing a second connection inside the daemon would drop the daemon's own POSIX locks.
"""

import asyncio
import os
import sys

import msgspec

from termvisor.clock import SystemClock
from termvisor.diagnostics.checks.check import CheckContext, CheckFinding
from termvisor.errors import VisorError
from termvisor.system.subprocesses import run_and_capture

_CHECK_TIMEOUT_S = 120.0


class DatabaseCheck:
    name = "database"
    doc = "The database opens, was not written by a newer version, and passes SQLite's integrity check."

    async def run(self, context: CheckContext) -> CheckFinding:
        path = context.paths.database
        if not os.path.exists(path):
            return CheckFinding(name=self.name, status="skip", message=f"{path} is created at the first start")
        health = await context.get_health()
        if health is not None and not health.db_writable:
            hint = "Check the file's permissions and the free disk space."
            return CheckFinding(name=self.name, status="fail", message=f"the daemon cannot write {path}", hint=hint)
        argv = [sys.executable, "-m", "termvisor.diagnostics.checks.database", path]
        status, output, errors = await asyncio.to_thread(run_and_capture, argv, timeout_s=_CHECK_TIMEOUT_S)
        if status != 0:
            last_line = errors.decode(errors="replace").strip().rpartition("\n")[2]
            return CheckFinding(name=self.name, status="warn", message=f"the check failed: {last_line}")
        return msgspec.json.decode(output, type=CheckFinding)


async def check_database_file(path: str) -> CheckFinding:
    from termvisor.store import Store  # only the child process loads SQLite

    try:
        store = await Store.open(path, SystemClock())
        verdict = await store.check_integrity()
        await store.close()
    except VisorError as error:
        return CheckFinding(name="database", status="fail", message=error.message, hint=error.hint)
    if verdict != "ok":
        hint = "Stop the daemon and restore a backup with `visor db restore`; without one, move the file away."
        return CheckFinding(name="database", status="fail", message=verdict, hint=hint)
    return CheckFinding(name="database", status="ok", message=f"{path} is intact")


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(asyncio.run(check_database_file(sys.argv[1]))))
