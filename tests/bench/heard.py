"""How long what an agent leaves on disk takes to be a record: a hook's line, a line of a log, a file, an end."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Callable

from termvisor.agents.adapters.adapter import Record, Watch
from termvisor.agents.sources.hook_spool import Mark, Spool
from termvisor.agents.sources.pane_processes import Processes
from termvisor.agents.sources.source_watcher import Listening
from termvisor.clock import SystemClock
from termvisor.system.process_exit import Ends
from termvisor.system.procfs import entry
from termvisor.testing.tmux import short_folder
from tests.bench.figure import Figure, percentile


def records(rounds: int = 100, others: int = 50) -> list[Figure]:
    """Measured on one watch of each kind, beside others in the same folders."""
    return asyncio.run(_measured(rounds, others))


async def _measured(rounds: int, others: int) -> list[Figure]:
    queue: asyncio.Queue[Record] = asyncio.Queue()

    async def heard(found: list[Record]) -> None:
        for record in found:
            queue.put_nowait(record)

    with short_folder() as folder:
        clock = SystemClock()
        listening = Listening(heard, clock, Spool(f"{folder}/spool", Mark(), clock))
        for number in range(others + 1):
            names = ("files", f"{number}.json"), ("lines", f"{number}.jsonl")
            listening.watch(number, [Watch(source=k, kind=k, folder=folder, pattern=n) for k, n in names])
        task = asyncio.ensure_future(listening.run())
        while any(one.detail for one in listening.health()):
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        hook = await _times(rounds, queue, lambda n: _append(f"{folder}/spool/hooks.jsonl", _hook(n)))
        line = await _times(rounds, queue, lambda n: _append(f"{folder}/0.jsonl", b'{"line":%d}\n' % n))
        file = await _times(rounds, queue, lambda n: _replace(f"{folder}/0.json", b'{"file":%d}' % n))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    return [
        Figure("hook to record, p95", 1000 * percentile(hook, 0.95), 50, "ms"),
        Figure("line to record, p95", 1000 * percentile(line, 0.95), 50, "ms"),
        Figure("file to record, p95", 1000 * percentile(file, 0.95), 50, "ms"),
        Figure("end of a process told, p95", 1000 * percentile(await _ends(rounds // 4), 0.95), 50, "ms"),
        Figure("a look at all processes, p95", 1000 * percentile(_looks(rounds), 0.95), 20, "ms"),
    ]


async def _times(rounds: int, queue: asyncio.Queue[Record], write: Callable[[int], None]) -> list[float]:
    found = []
    for number in range(rounds):
        began = time.monotonic()
        write(number)
        await queue.get()
        found.append(time.monotonic() - began)
        await asyncio.sleep(0.005)
    return found


async def _ends(rounds: int) -> list[float]:
    told: asyncio.Queue[float] = asyncio.Queue()
    ends = Ends(lambda *_: told.put_nowait(time.monotonic()))
    found = []
    for _ in range(rounds):
        with subprocess.Popen(["sleep", "60"]) as process:
            ends.watch(process.pid, entry(process.pid).started)
            began = time.monotonic()
            process.kill()
            found.append(await told.get() - began)
    ends.close()
    return found


def _looks(rounds: int) -> list[float]:
    processes, found = Processes(("HOME",)), []
    for _ in range(rounds):
        began = time.monotonic()
        processes.survey({1: os.getpid()})
        found.append(time.monotonic() - began)
    return found


def _hook(number: int) -> bytes:
    return b'{"v":1,"agent":"generic","event":"Stop","at":%d,"pane":"%%1","pid":7,"payload":{}}\n' % number


def _append(path: str, data: bytes) -> None:
    with open(path, "ab") as file:
        file.write(data)


def _replace(path: str, data: bytes) -> None:
    with open(f"{path}.tmp", "wb") as file:
        file.write(data)
    os.replace(f"{path}.tmp", path)
