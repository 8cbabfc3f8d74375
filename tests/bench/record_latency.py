"""Measure how long it takes to read a hook line, a log line, a file and a process exit as a record."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Callable

from termvisor.agents.adapters.adapter import SourceRecord, WatchedPath
from termvisor.agents.sources.hook_spool import HookSpool, SpoolPosition
from termvisor.agents.sources.process_scanner import PaneProcessScanner
from termvisor.agents.sources.source_watcher import SourceWatcher
from termvisor.clock import SystemClock
from termvisor.system.process_lifetime import ProcessExitWatcher
from termvisor.system.procfs import read_process
from termvisor.testing.private_tmux import make_short_folder
from tests.bench.figure import BudgetedFigure, compute_percentile


def measure_record_latency(rounds: int = 100, others: int = 50) -> list[BudgetedFigure]:
    """Measure one watch of each kind, with other watches in the same folders."""
    return asyncio.run(_measure_sources(rounds, others))


async def _measure_sources(rounds: int, others: int) -> list[BudgetedFigure]:
    queue: asyncio.Queue[SourceRecord] = asyncio.Queue()

    async def queue_records(found: list[SourceRecord]) -> None:
        for record in found:
            queue.put_nowait(record)

    with make_short_folder() as folder:
        clock = SystemClock()
        watcher = SourceWatcher(queue_records, clock, HookSpool(f"{folder}/spool", SpoolPosition(), clock))
        for number in range(others + 1):
            names = ("files", f"{number}.json"), ("lines", f"{number}.jsonl")
            watcher.watch(number, [WatchedPath(source=k, kind=k, folder=folder, pattern=n) for k, n in names])
        task = asyncio.ensure_future(watcher.run())
        while any(one.detail for one in watcher.list_health()):
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        hook = await _time_records(
            rounds, queue, lambda n: _append_line(f"{folder}/spool/hooks.jsonl", _build_hook_line(n))
        )
        line = await _time_records(rounds, queue, lambda n: _append_line(f"{folder}/0.jsonl", b'{"line":%d}\n' % n))
        file = await _time_records(rounds, queue, lambda n: _replace_file(f"{folder}/0.json", b'{"file":%d}' % n))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    return [
        BudgetedFigure("hook to record, p95", 1000 * compute_percentile(hook, 0.95), 50, "ms"),
        BudgetedFigure("line to record, p95", 1000 * compute_percentile(line, 0.95), 50, "ms"),
        BudgetedFigure("file to record, p95", 1000 * compute_percentile(file, 0.95), 50, "ms"),
        BudgetedFigure(
            "end of a process told, p95",
            1000 * compute_percentile(await _time_process_exits(rounds // 4), 0.95),
            50,
            "ms",
        ),
        BudgetedFigure(
            "a look at all processes, p95", 1000 * compute_percentile(_time_process_scans(rounds), 0.95), 20, "ms"
        ),
    ]


async def _time_records(rounds: int, queue: asyncio.Queue[SourceRecord], write: Callable[[int], None]) -> list[float]:
    found = []
    for number in range(rounds):
        began = time.monotonic()
        write(number)
        await queue.get()
        found.append(time.monotonic() - began)
        await asyncio.sleep(0.005)
    return found


async def _time_process_exits(rounds: int) -> list[float]:
    exit_times: asyncio.Queue[float] = asyncio.Queue()
    ends = ProcessExitWatcher(lambda *_: exit_times.put_nowait(time.monotonic()))
    found = []
    for _ in range(rounds):
        with subprocess.Popen(["sleep", "60"]) as process:
            ends.watch_process(process.pid, read_process(process.pid).started)
            began = time.monotonic()
            process.kill()
            found.append(await exit_times.get() - began)
    ends.close()
    return found


def _time_process_scans(rounds: int) -> list[float]:
    processes, found = PaneProcessScanner(("HOME",)), []
    for _ in range(rounds):
        began = time.monotonic()
        processes.scan_sync({1: os.getpid()})
        found.append(time.monotonic() - began)
    return found


def _build_hook_line(number: int) -> bytes:
    return b'{"v":1,"agent":"generic","event":"Stop","at":%d,"pane":"%%1","pid":7,"payload":{}}\n' % number


def _append_line(path: str, data: bytes) -> None:
    with open(path, "ab") as file:
        file.write(data)


def _replace_file(path: str, data: bytes) -> None:
    with open(f"{path}.tmp", "wb") as file:
        file.write(data)
    os.replace(f"{path}.tmp", path)
