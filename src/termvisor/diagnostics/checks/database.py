"""The check `database`: the file opens and is whole.

It runs in a process of its own: opening the file a second time inside the daemon would drop the daemon's own locks.
"""

import asyncio
import os
import sys

import msgspec

from termvisor.clock import SystemClock
from termvisor.diagnostics.checks.check import Finding, Sight
from termvisor.errors import VisorError
from termvisor.system.subprocesses import ask

_PATIENCE = 120.0


class DatabaseIsWhole:
    name = "database"
    doc = "The database opens, was not written by a newer version, and passes SQLite's integrity check."

    async def look(self, sight: Sight) -> Finding:
        path = sight.places.database
        if not os.path.exists(path):
            return Finding(name=self.name, status="skip", message=f"{path} is made when the daemon first runs")
        health = await sight.health()
        if health is not None and not health.db_writable:
            hint = "Check the rights of the file and the free space of its disk."
            return Finding(name=self.name, status="fail", message=f"the daemon cannot write {path}", hint=hint)
        argv = [sys.executable, "-m", "termvisor.diagnostics.checks.database", path]
        status, output, trouble = await asyncio.to_thread(ask, argv, timeout=_PATIENCE)
        if status != 0:
            told = trouble.decode(errors="replace").strip().rpartition("\n")[2]
            return Finding(name=self.name, status="warn", message=f"it could not be checked: {told}")
        return msgspec.json.decode(output, type=Finding)


async def examined(path: str) -> Finding:
    from termvisor.store import Store  # SQLite loads in the checking process only

    try:
        store = await Store.open(path, SystemClock())
        verdict = await store.check()
        await store.close()
    except VisorError as error:
        return Finding(name="database", status="fail", message=error.message, hint=error.hint)
    if verdict != "ok":
        hint = "Stop the daemon and put back a copy with `visor db restore`; without one, move the file away."
        return Finding(name="database", status="fail", message=verdict, hint=hint)
    return Finding(name="database", status="ok", message=f"{path} is whole")


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(asyncio.run(examined(sys.argv[1]))))
