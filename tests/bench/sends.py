"""What the gate costs before the first byte is typed, beside a bare `tmux send-keys` that asks and records nothing.

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
from termvisor.actions.policy_check import PolicyJudge
from termvisor.backends.tmux.pane_control import TmuxControl
from termvisor.daemon.assembly import open_world
from termvisor.daemon.services.services import LiveWorld
from termvisor.model.action.action import Actor
from termvisor.model.ids import PaneId
from termvisor.ops.api import dispatch as ops
from termvisor.settings import Places, Settings, nonce, prepare
from termvisor.setup.shell_integration import snippet
from termvisor.testing.tmux import PrivateTmux, private_tmux, short_folder
from tests.bench.figure import Figure, percentile
from tests.unit.waiting import until

RC = "HISTFILE= PROMPT_COMMAND= PS1='$ '\n"
POLICY = """
[rates]
per_minute = 100_000
[[rule]]
id = "bench"
when = { actor = ["robot"], kind = ["send_text"] }
answer = "allow"
"""
ROBOT = Actor(kind="robot", uid=1000, pid=1)


def gate(sends: int = 1000, panes: int = 3) -> list[Figure]:
    """One send begins at a time; while it waits to be seen and taken, the next pane has its turn."""
    with short_folder() as folder, private_tmux(folder) as tmux, private_tmux(folder, "bare") as unwatched:
        bare, lanes = asyncio.run(_measured(folder, (tmux, unwatched), sends, panes))
    written = [took for lane in lanes for took in lane.written]
    delivered = [took for lane in lanes for took in lane.delivered]
    middle = percentile(bare, 0.5)
    asked = [took for lane in lanes for took in lane.asked]
    print(f"  judged to written: {_ms(written)}; with the look before it: {_ms(asked)}; to delivered: {_ms(delivered)}")
    against = f"a bare `tmux send-keys` ({1000 * middle:.2f} ms), side by side"
    return [Figure("send: judged, recorded and written, p50", percentile(written, 0.5) / middle, 1, "x", against)]


async def _measured(
    folder: str, servers: tuple[PrivateTmux, PrivateTmux], sends: int, panes: int
) -> tuple[list[float], list[Lane]]:
    bare, (tmux, unwatched) = [], servers
    sink = unwatched.start("work", "exec cat > /dev/null")
    async with _lanes(folder, tmux, panes) as lanes, asyncio.TaskGroup() as group:
        for number in range(sends):
            lane = lanes[number % panes]
            await lane.free()
            bare.append(_bare(unwatched, sink, f"true bare {number}"))
            group.create_task(lane.send(f"true send {number}"))
            await lane.is_written.wait()
    return bare, lanes


class Lane:
    """One pane with a shell, to which one text at a time is sent."""

    def __init__(self, world: LiveWorld, pane: PaneId):
        self._world, self.pane = world, pane
        self.is_written, self._is_over = asyncio.Event(), asyncio.Event()
        self.asked_at = self.judged_at = 0.0
        self.asked: list[float] = []
        self.written: list[float] = []
        self.delivered: list[float] = []
        self._is_over.set()

    async def free(self) -> None:
        """Wait until the last text was taken and the prompt has stood there for a while, as prompts do."""
        await self._is_over.wait()
        await until(self._is_at_prompt)
        await self._world.fleet.settle()
        self.is_written.clear()
        self._is_over.clear()

    async def send(self, text: str) -> None:
        began = time.perf_counter()
        sent = await ops.call(self._world.called_by(ROBOT), "send_text", {"pane": str(self.pane), "text": text})
        if sent.status != "delivered":
            raise AssertionError(f"{text}: {sent}")
        self.delivered.append(time.perf_counter() - began)
        self._is_over.set()

    def write_is_done(self) -> None:
        self.asked.append(time.perf_counter() - self.asked_at)
        self.written.append(time.perf_counter() - self.judged_at)
        self.is_written.set()

    def _is_at_prompt(self) -> bool:
        text = self._world._parts.pipeline.current.get(self.pane)
        return text is not None and text.following.activity.kind == "prompt" and text.following.activity.is_proven


@asynccontextmanager
async def _lanes(folder: str, tmux: PrivateTmux, count: int) -> AsyncIterator[list[Lane]]:
    places = Places(f"{folder}/c", f"{folder}/d", f"{folder}/r")
    prepare(places)
    nonce(places.nonce_file)
    policy, rc = Path(places.config_dir, "policy.toml"), Path(folder, "rc")
    policy.parent.mkdir()
    policy.write_text(POLICY)
    rc.write_bytes(RC.encode() + snippet("bash", places.nonce_file))
    tmux.start("work", "exec sleep 1000")
    mux_ids = [tmux.window("work", f"exec bash --noprofile --rcfile {rc} -i") for _ in range(count)]
    async with open_world(places, Settings(tmux_sockets=(tmux.socket,))) as world:
        lanes = {mux_id: Lane(world, await _heard(world, mux_id)) for mux_id in mux_ids}
        for mux_id in mux_ids:
            tmux.type(mux_id, "")  # the first prompt may have been shown before it was heard
        with _stopwatch(lanes):
            yield list(lanes.values())


async def _heard(world: LiveWorld, mux_id: str) -> PaneId:
    async with asyncio.timeout(20):
        while True:
            for view in await world.fleet.panes():
                if view.instance.mux_id == mux_id and view.heard_by == "pipe":
                    return view.id


@contextmanager
def _stopwatch(lanes: dict[str, Lane]) -> Iterator[None]:
    """Started where the gate is asked and where the judge is, stopped where tmux has answered the write."""
    by_pane = {lane.pane: lane for lane in lanes.values()}
    do, judge, write = Gate.do, PolicyJudge.judge, TmuxControl.write

    async def asked(self: Gate, action: Any, *terms: Any) -> Any:
        by_pane[action.pane].asked_at = time.perf_counter()
        return await do(self, action, *terms)

    async def judged(self: PolicyJudge, action: Any, *terms: Any) -> Any:
        by_pane[action.pane].judged_at = time.perf_counter()
        return await judge(self, action, *terms)

    async def written(self: TmuxControl, guard: Any, text: str) -> Any:
        outcome = await write(self, guard, text)
        lanes[guard.pane].write_is_done()
        return outcome

    with (
        patch.object(Gate, "do", asked),
        patch.object(PolicyJudge, "judge", judged),
        patch.object(TmuxControl, "write", written),
    ):
        yield


def _bare(tmux: PrivateTmux, pane: str, text: str) -> float:
    began = time.perf_counter()
    subprocess.run(["tmux", "-S", tmux.socket, "send-keys", "-t", pane, "-l", text], check=True)
    return time.perf_counter() - began


def _ms(times: list[float]) -> str:
    return f"p50 {1000 * percentile(times, 0.5):.1f} ms, p95 {1000 * percentile(times, 0.95):.1f} ms"
