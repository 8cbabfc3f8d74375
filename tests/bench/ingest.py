"""How fast raw bytes become stored, indexed, redacted text that rules looked at, and that nothing is lost."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time

from termvisor.clock import SystemClock
from termvisor.detection.packs import load
from termvisor.detection.scanner import RuleScan
from termvisor.model.ids import MuxPaneId, TargetName
from termvisor.model.terminal.output import Epoch
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, ServerInstance
from termvisor.pipeline import Pipeline
from termvisor.recorder.segment_log import SegmentWriter
from termvisor.store import Store
from termvisor.testing.instance import instance
from termvisor.testing.tmux import private_tmux, short_folder
from tests.bench.figure import Figure
from tests.live.printing import Printer, after_start, raw_log
from tests.live.waiting import until

MB = 1_000_000


def text(megabytes: int = 30) -> list[Figure]:
    with short_folder() as folder:
        return [asyncio.run(_text(folder, megabytes))]


async def _text(folder: str, megabytes: int) -> Figure:
    clock = SystemClock()
    store = await Store.open(f"{folder}/v.db", clock)
    server = ServerInstance(TargetName("local"), "/x", 1, 1)
    facts = PaneFacts(mux_id=MuxPaneId("%0"), pid=1)
    pane, _ = await store.panes.recognise(PaneInstance(server, MuxPaneId("%0")), facts, clock.now())
    epoch = Epoch(id=await store.output.open_epoch(pane, "pipe", 1), pane=pane, source="pipe", opened_at=1)
    pipeline = Pipeline(store.output, raw_dir=folder, clock=clock, flush_for=0.15)
    rules = [rule for rule in load().rules if rule.scope in ("line", "stream") and rule.event]
    scan = RuleScan(rules, cache=folder)
    scan.warm()
    pipeline.spotter.use(rules, scan)
    size = _fill(pipeline.folder(epoch), megabytes)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(pipeline.run())
        await pipeline.settle()
        began = time.process_time()
        pipeline.open(epoch)
        await pipeline.settle()
        spent = time.process_time() - began
        task.cancel()
    await store.close()
    return Figure("ingest: lines + index + redaction + rules", size / MB / spent, 10, "MB/s of one core", is_floor=True)


def _fill(folder: str, megabytes: int) -> int:
    os.makedirs(folder)
    writer = SegmentWriter(folder, 8 << 20)
    number = 0
    while writer.offset < megabytes * MB:
        lines = []
        for _ in range(300):
            number += 1
            lines.append(
                b"\x1b[32m   Compiling\x1b[0m crate-%d v0.%d.1 (src/module_%d.rs:%d) the quick brown fox\r\n"
                % (number, number % 9, number % 97, number % 1000)
            )
        writer.append(b"".join(lines), 10**18 + number)
    writer.close()
    return writer.offset


def flood(megabytes: int = 50) -> list[Figure]:
    """The same bytes through a pane into a plain file, and into us."""
    with short_folder() as folder, private_tmux(folder) as tmux:
        plain = _into_file(folder, tmux, megabytes)
    with short_folder() as folder, private_tmux(folder) as tmux, instance(folder, tmux.socket) as visor:
        printer = Printer(folder, "alpha", megabytes)
        mux_id = tmux.start(command=printer.command)
        until(lambda: visor.robot("state")["items"] and visor.robot("state")["items"][0]["heard_by"] == "pipe")
        pane = visor.robot("state")["items"][0]["identity"]["id"]
        began = time.monotonic()
        printer.go()
        until(lambda: printer.is_done, seconds=120)
        size, _, digest = printer.written
        until(lambda: after_start(raw_log(visor.places.raw_dir, pane))[0] >= size, seconds=60)
        took = time.monotonic() - began
        lost = 0 if after_start(raw_log(visor.places.raw_dir, pane)) == (size, digest) else 1
        del mux_id
    return [
        Figure("flood of one pane, time", took / plain, 2.0, "x", "pipe-pane 'cat >> file' of the same bytes"),
        Figure("flood of one pane, lost bytes", lost, 0, "", "sha256 of both sides"),
    ]


def _into_file(folder: str, tmux, megabytes: int) -> float:
    printer = Printer(folder, "alpha", megabytes)
    mux_id = tmux.start(command=printer.command)
    tmux("pipe-pane", "-O", "-t", mux_id, f"exec cat >> {folder}/log")
    began = time.monotonic()
    printer.go()
    until(lambda: printer.is_done, seconds=120)
    size = printer.written[0]
    until(lambda: os.path.getsize(f"{folder}/log") >= size, seconds=60)
    subprocess.run(["sync", f"{folder}/log"], check=False)
    return time.monotonic() - began
