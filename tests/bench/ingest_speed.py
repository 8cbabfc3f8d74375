"""Measure how fast raw bytes are decoded, redacted, matched, stored and indexed, and check that nothing is lost."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time

from termvisor.clock import SystemClock
from termvisor.detection.packs import load_packs
from termvisor.detection.scanner import RuleScanner
from termvisor.model.ids import MuxPaneId, TargetName
from termvisor.model.terminal.output import Epoch
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, ServerInstance
from termvisor.pipeline import Pipeline
from termvisor.recorder.segment_log import SegmentWriter
from termvisor.store import Store
from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import run_instance
from tests.bench.figure import BudgetedFigure
from tests.live.numbered_printer import NumberedPrinter, hash_after_start, read_raw_log
from tests.live.polling import wait_until

MB = 1_000_000


def measure_ingest(megabytes: int = 30) -> list[BudgetedFigure]:
    with make_short_folder() as folder:
        return [asyncio.run(_measure_ingest(folder, megabytes))]


async def _measure_ingest(folder: str, megabytes: int) -> BudgetedFigure:
    clock = SystemClock()
    store = await Store.open(f"{folder}/v.db", clock)
    server = ServerInstance(TargetName("local"), "/x", 1, 1)
    facts = PaneFacts(mux_id=MuxPaneId("%0"), pid=1)
    pane, _ = await store.panes.find_or_add(PaneInstance(server, MuxPaneId("%0")), facts, clock.now())
    epoch = Epoch(id=await store.output.open_epoch(pane, "pipe", 1), pane=pane, source="pipe", opened_at=1)
    pipeline = Pipeline(store.output, raw_dir=folder, clock=clock, flush_interval=0.15)
    rules = [rule for rule in load_packs().rules if rule.scope in ("line", "stream") and rule.event]
    scan = RuleScanner(rules, cache=folder)
    scan.compile_now()
    pipeline.matcher.set_rules(rules, scan)
    size = _fill_raw_log(pipeline.build_folder_path(epoch), megabytes)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(pipeline.run())
        await pipeline.wait_settled()
        began = time.process_time()
        pipeline.open_epoch(epoch)
        await pipeline.wait_settled()
        spent = time.process_time() - began
        task.cancel()
    await store.close()
    return BudgetedFigure(
        "ingest: lines + index + redaction + rules", size / MB / spent, 10, "MB/s of one core", is_floor=True
    )


def _fill_raw_log(folder: str, megabytes: int) -> int:
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


def measure_flood(megabytes: int = 50) -> list[BudgetedFigure]:
    """Send the same bytes through a pane into a plain file and into Termvisor."""
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        plain = _time_pipe_to_file(folder, tmux, megabytes)
    with make_short_folder() as folder, run_private_tmux(folder) as tmux, run_instance(folder, tmux.socket) as visor:
        printer = NumberedPrinter(folder, "alpha", megabytes)
        mux_id = tmux.start_session(command=printer.command)
        wait_until(
            lambda: visor.call_robot("state")["items"] and visor.call_robot("state")["items"][0]["heard_by"] == "pipe"
        )
        pane = visor.call_robot("state")["items"][0]["identity"]["id"]
        began = time.monotonic()
        printer.release()
        wait_until(lambda: printer.is_done, timeout_s=120)
        size, _, digest = printer.printed
        wait_until(lambda: hash_after_start(read_raw_log(visor.paths.raw_dir, pane))[0] >= size, timeout_s=60)
        took = time.monotonic() - began
        lost = 0 if hash_after_start(read_raw_log(visor.paths.raw_dir, pane)) == (size, digest) else 1
        del mux_id
    return [
        BudgetedFigure("flood of one pane, time", took / plain, 2.0, "x", "pipe-pane 'cat >> file' of the same bytes"),
        BudgetedFigure("flood of one pane, lost bytes", lost, 0, "", "sha256 of both sides"),
    ]


def _time_pipe_to_file(folder: str, tmux, megabytes: int) -> float:
    printer = NumberedPrinter(folder, "alpha", megabytes)
    mux_id = tmux.start_session(command=printer.command)
    tmux("pipe-pane", "-O", "-t", mux_id, f"exec cat >> {folder}/log")
    began = time.monotonic()
    printer.release()
    wait_until(lambda: printer.is_done, timeout_s=120)
    size = printer.printed[0]
    wait_until(lambda: os.path.getsize(f"{folder}/log") >= size, timeout_s=60)
    subprocess.run(["sync", f"{folder}/log"], check=False)
    return time.monotonic() - began
