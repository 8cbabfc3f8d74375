"""Measure the cost of the gate before the first byte is typed, compared with a bare `tmux send-keys`.

Measured from the judging to tmux's word that the guarded write is done: the policy judges, intent and journal are on
disk, and the write is checked inside the server. What the look at the pane before it costs is printed beside it.
"""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from termvisor.actions.gate import Gate
from termvisor.actions.policy_check import PolicyChecker
from termvisor.backends.tmux.pane_control import TmuxPaneControl
from termvisor.daemon.assembly import open_services
from termvisor.daemon.services.services import DaemonServices
from termvisor.model.action.action import Actor
from termvisor.model.ids import PaneId
from termvisor.ops.api import dispatch
from termvisor.settings import Paths, Settings, make_instance_folders
from termvisor.setup.shell_integration import build_snippet
from termvisor.system.shell_nonce import load_nonce
from termvisor.testing.private_tmux import PrivateTmux, make_short_folder, run_private_tmux
from tests.bench.figure import BudgetedFigure, compute_percentile
from tests.unit.wait_until import wait_until

BASH_RC = "HISTFILE= PROMPT_COMMAND= PS1='$ '\n"
POLICY = """
[rates]
per_minute = 100_000
[[rule]]
id = "bench"
when = { actor = ["robot"], kind = ["send_text"] }
answer = "allow"
[commands]
unknown_effect = "allow"
"""
ROBOT = Actor(kind="robot", uid=1000, pid=1)


def measure_send_cost(sends: int = 1000, panes: int = 3) -> list[BudgetedFigure]:
    """Start one send at a time; while it waits for verification, the next pane's send starts."""
    with make_short_folder() as folder, run_private_tmux(folder) as tmux, run_private_tmux(folder, "bare") as unwatched:
        bare, lanes = asyncio.run(_measure_sends(folder, (tmux, unwatched), sends, panes))
    time_write = [took for lane in lanes for took in lane.write_times]
    delivered = [took for lane in lanes for took in lane.delivery_times]
    middle = compute_percentile(bare, 0.5)
    time_submit = [took for lane in lanes for took in lane.request_times]
    print(
        f"  policy to write: {_format_times(time_write)}; with the snapshot before it: {_format_times(time_submit)};"
        f" to delivered: {_format_times(delivered)}"
    )
    against = f"a bare `tmux send-keys` ({1000 * middle:.2f} ms), side by side"
    return [
        BudgetedFigure(
            "send: judged, recorded and written, p50", compute_percentile(time_write, 0.5) / middle, 1, "x", against
        )
    ]


async def _measure_sends(
    folder: str, servers: tuple[PrivateTmux, PrivateTmux], sends: int, panes: int
) -> tuple[list[float], list[SendLane]]:
    bare, (tmux, unwatched) = [], servers
    sink = unwatched.start_session("work", "exec cat > /dev/null")
    async with _open_lanes(folder, tmux, panes) as lanes, asyncio.TaskGroup() as group:
        for number in range(sends):
            lane = lanes[number % panes]
            await lane.wait_until_free()
            bare.append(_time_bare_send(unwatched, sink, f"true bare {number}"))
            group.create_task(lane.send(f"true send {number}"))
            await lane.is_written.wait()
    return bare, lanes


class SendLane:
    """One pane with a shell that receives one text at a time."""

    def __init__(self, services: DaemonServices, pane: PaneId):
        self._services, self.pane = services, pane
        self.is_written, self._is_over = asyncio.Event(), asyncio.Event()
        self.requested_at = self.policy_checked_at = 0.0
        self.request_times: list[float] = []
        self.write_times: list[float] = []
        self.delivery_times: list[float] = []
        self._is_over.set()

    async def wait_until_free(self) -> None:
        """Wait until the last text was submitted and the prompt has been visible for a while."""
        await self._is_over.wait()
        await wait_until(self._is_at_prompt)
        await self._services.panes.wait_until_stored()
        self.is_written.clear()
        self._is_over.clear()

    async def send(self, text: str) -> None:
        began = time.perf_counter()
        sent = await dispatch.call_operation(
            self._services.bind_caller(ROBOT), "send_text", {"pane": str(self.pane), "text": text}
        )
        if sent.status != "delivered":
            raise AssertionError(f"{text}: {sent}")
        self.delivery_times.append(time.perf_counter() - began)
        self._is_over.set()

    def record_write(self) -> None:
        self.request_times.append(time.perf_counter() - self.requested_at)
        self.write_times.append(time.perf_counter() - self.policy_checked_at)
        self.is_written.set()

    def _is_at_prompt(self) -> bool:
        text = self._services._components.pipeline.current_readers.get(self.pane)
        return (
            text is not None
            and text.shells.activity_state.activity.kind == "prompt"
            and text.shells.activity_state.activity.is_proven
        )


@asynccontextmanager
async def _open_lanes(folder: str, tmux: PrivateTmux, count: int) -> AsyncIterator[list[SendLane]]:
    paths = Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r")
    make_instance_folders(paths)
    load_nonce(paths.nonce_file)
    policy, rc = Path(paths.config_dir, "policy.toml"), Path(folder, "rc")
    policy.parent.mkdir()
    policy.write_text(POLICY)
    rc.write_bytes(BASH_RC.encode() + build_snippet("bash", paths))
    tmux.start_session("work", "exec sleep 1000")
    mux_ids = [tmux.open_window("work", f"exec bash --noprofile --rcfile {rc} -i") for _ in range(count)]
    async with open_services(paths, Settings(tmux_sockets=(tmux.socket,))) as services:
        lanes = {mux_id: SendLane(services, await _wait_captured(services, mux_id)) for mux_id in mux_ids}
        with _time_gate(lanes):
            yield list(lanes.values())


async def _wait_captured(services: DaemonServices, mux_id: str) -> PaneId:
    async with asyncio.timeout(20):
        while True:
            for view in await services.panes.list_panes():
                if view.instance.mux_id == mux_id and view.heard_by == "pipe":
                    return view.id


@contextmanager
def _time_gate(lanes: dict[str, SendLane]) -> Iterator[None]:
    """Start timers at the gate and at the policy check, and stop them when tmux has confirmed the write."""
    by_pane = {lane.pane: lane for lane in lanes.values()}
    run_action, check_policy, write = Gate.run, PolicyChecker.check, TmuxPaneControl.write

    async def time_submit(self: Gate, action: Any, *args: Any) -> Any:
        by_pane[action.pane].requested_at = time.perf_counter()
        return await run_action(self, action, *args)

    async def time_policy_check(self: PolicyChecker, action: Any, *args: Any) -> Any:
        by_pane[action.pane].policy_checked_at = time.perf_counter()
        return await check_policy(self, action, *args)

    async def time_write(self: TmuxPaneControl, guard: Any, text: str) -> Any:
        outcome = await write(self, guard, text)
        lanes[guard.pane].record_write()
        return outcome

    with (
        patch.object(Gate, "run", time_submit),
        patch.object(PolicyChecker, "check", time_policy_check),
        patch.object(TmuxPaneControl, "write", time_write),
    ):
        yield


def _time_bare_send(tmux: PrivateTmux, pane: str, text: str) -> float:
    began = time.perf_counter()
    subprocess.run(["tmux", "-S", tmux.socket, "send-keys", "-t", pane, "-l", text], check=True)
    return time.perf_counter() - began


def _format_times(times: list[float]) -> str:
    return f"p50 {1000 * compute_percentile(times, 0.5):.1f} ms, p95 {1000 * compute_percentile(times, 0.95):.1f} ms"
