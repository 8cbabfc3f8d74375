"""Measure how long an agent's action takes to become its published state, by each source.

From the moment in which the agent runs its hook, rewrites its file, says it on its server, prints its mark or paints
its screen, to the moment in which a listener has the change. Measured on a living daemon while other panes print.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from termvisor.client import AsyncVisor, connect
from termvisor.setup import hook_script
from termvisor.testing.private_tmux import PrivateTmux, make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import VisorInstance, run_instance
from tests.bench.figure import BudgetedFigure, compute_percentile
from tests.bench.pane_writer import PaneWriter, open_panes
from tests.live.polling import wait_until
from tests.recordings.recorded_agent import HEIGHT, WIDTH, RecordedAgent, replace_file
from tests.recordings.scene import load_scenes
from tests.unit.agents.adapters.codex.app_server_messages import (
    ACTIVE_STATUS,
    WAITING_STATUS,
    build_started_message,
    build_status_message,
)
from tests.unit.agents.adapters.codex.server_client.fake_app_server import run_fake_app_server

StateStep = tuple[str, Callable[[], Awaitable[None]]]
"""The expected state, and the action that leads to it."""
OTHER_PANES = 10


def measure_state_latency(rounds: int = 40) -> list[BudgetedFigure]:
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        chatter = PaneWriter(open_panes(tmux, folder, OTHER_PANES))
        stage = AgentPanes(tmux, folder)
        try:
            with run_instance(folder, tmux.socket) as one:
                hook_script.install(one.paths)
                wait_until(lambda: stage.are_agents_known(one), timeout_s=60)
                return asyncio.run(_measure_sources(stage, one, rounds))
        finally:
            stage.close()
            chatter.close()


async def _measure_sources(stage: AgentPanes, one: VisorInstance, rounds: int) -> list[BudgetedFigure]:
    async with connect(one.paths) as visor, StateListener(visor).listening() as listener:
        hook = await listener.time_changes(stage["gemini"], build_hook_steps(stage, one), rounds)
        file = await listener.time_changes(stage["claude_code"], build_registry_steps(stage), rounds)
        ends = await listener.time_changes(stage["claude_code"], build_rest_steps(stage), rounds // 2)
        mark = await listener.time_changes(stage["codex"], build_mark_steps(stage["codex"]), rounds)
        async with serve_codex(stage["served"]) as steps:
            server = await listener.time_changes(stage["served"], steps, rounds)
        screen = await listener.time_changes(stage["opencode"], build_screen_steps(stage["opencode"]), rounds // 4)
    return [
        _build_figure("hook to state, p95", hook, 50),
        _build_figure("registry file to state, p95", file, 100),
        _build_figure("registry file to rest, p95", ends[1::2], 500),
        _build_figure("app-server to state, p95", server, 100),
        _build_figure("OSC mark to state, p95", mark, 100),
        _build_figure("screen to state, p95", screen, 1500),
    ]


def _build_figure(name: str, times: list[float], budget: float) -> BudgetedFigure:
    return BudgetedFigure(name, 1000 * compute_percentile(times, 0.95), budget, "ms", f"{len(times)} changes")


class AgentPanes:
    """One agent for each source; `served` is a Codex with a server."""

    def __init__(self, tmux: PrivateTmux, folder: str):
        self._tmux = tmux
        agents = {"gemini": "gemini", "claude_code": "claude_code", "codex": "codex", "opencode": "opencode"}
        agents["served"] = "codex"
        self._actors_by_name = {name: RecordedAgent(folder, n, agent) for n, (name, agent) in enumerate(agents.items())}
        for name, actor in self._actors_by_name.items():
            actor.start(lambda command, name=name: tmux.start_session(name, command, width=WIDTH, height=HEIGHT), tmux)

    def __getitem__(self, name: str) -> RecordedAgent:
        return self._actors_by_name[name]

    def are_agents_known(self, one: VisorInstance) -> bool:
        panes = {item["identity"]["pane_id"]: item["agent"] for item in one.call_robot("state")["items"]}
        return all(panes.get(actor.mux_id) == actor.agent for actor in self._actors_by_name.values())

    def close(self) -> None:
        for actor in self._actors_by_name.values():
            actor.stop()

    @property
    def socket(self) -> str:
        return self._tmux.socket


class StateListener:
    """A client that watches the agents and receives every state change."""

    def __init__(self, visor: AsyncVisor):
        self._visor = visor
        self._state_changes: asyncio.Queue[tuple[int, str, float]] = asyncio.Queue()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[StateListener]:
        task = asyncio.ensure_future(self._listen())
        await asyncio.sleep(0.3)
        try:
            yield self
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _listen(self) -> None:
        async for event in self._visor.watch_events(kind="state_changed"):
            self._state_changes.put_nowait((event["pane"], event["data"]["after"], time.monotonic()))

    async def time_changes(self, actor: RecordedAgent, steps: list[StateStep], rounds: int) -> list[float]:
        """Return the seconds of each change; the first round is not counted because it loads everything."""
        panes = (await self._visor.list_panes())["items"]
        pane = next(one["identity"]["id"] for one in panes if one["identity"]["pane_id"] == actor.mux_id)
        found = []
        for number in range(rounds + len(steps)):
            state, act = steps[number % len(steps)]
            began = time.monotonic()
            await act()
            found.append(await self._wait_for_state(pane, state) - began)
            await asyncio.sleep(0.03)
        return found[len(steps) :]

    async def _wait_for_state(self, pane: int, state: str) -> float:
        async with asyncio.timeout(30):
            while True:
                whose, found, at = await self._state_changes.get()
                if (whose, found) == (pane, state):
                    return at


def build_hook_steps(stage: AgentPanes, one: VisorInstance) -> list[StateStep]:
    """Report by the hook script that agents run."""
    actor = stage["gemini"]
    env = {**os.environ, "TMUX": f"{stage.socket},1,0", "TMUX_PANE": actor.mux_id}

    async def run(event: str, **payload: str) -> None:
        script = await asyncio.create_subprocess_exec(
            "sh", one.paths.hook_file, "tell", "gemini", event, str(actor.pid), stdin=asyncio.subprocess.PIPE, env=env
        )
        await script.communicate(json.dumps({"session_id": "s", **payload}).encode())

    return [
        ("running", lambda: run("BeforeAgent", prompt="go")),
        ("completed", lambda: run("AfterAgent", prompt_response="gone")),
    ]


def build_registry_steps(stage: AgentPanes) -> list[StateStep]:
    return [("running", _build_status_writer(stage, "busy")), ("waiting_input", _build_status_writer(stage, "waiting"))]


def build_rest_steps(stage: AgentPanes) -> list[StateStep]:
    """Rest is published with a delay, because other sources report whether the turn succeeded."""
    return [("running", _build_status_writer(stage, "busy")), ("idle", _build_status_writer(stage, "idle"))]


def _build_status_writer(stage: AgentPanes, status: str) -> Callable[[], Awaitable[None]]:
    actor = stage["claude_code"]
    path = actor.home / ".claude/sessions" / f"{actor.pid}.json"
    path.parent.mkdir(parents=True, exist_ok=True)

    async def write() -> None:
        now = time.time_ns() // 10**6
        entry = {"pid": actor.pid, "sessionId": "s", "status": status, "updatedAt": now, "statusUpdatedAt": now}
        replace_file(path, json.dumps(entry))

    return write


def build_mark_steps(actor: RecordedAgent) -> list[StateStep]:
    async def send(state: str) -> None:
        actor.write_terminal(f"\x1b]7501;state={state}:app=codex\x1b\\")

    return [("running", lambda: send("working")), ("waiting_approval", lambda: send("blocked:kind=permission"))]


@asynccontextmanager
async def serve_codex(actor: RecordedAgent) -> AsyncIterator[list[StateStep]]:
    """Run a server in this Codex' home, with a thread in its folder."""
    thread = f"{time.time_ns() // 10**6:012x}"
    thread = f"{thread[:8]}-{thread[8:]}-7552-9a96-bdc8cca6f404"
    async with run_fake_app_server(str(actor.home / ".codex")) as server:
        await server.wait_for_request("thread/list")
        started = build_started_message(thread, cwd=str(actor.cwd), createdAt=time.time_ns() // 10**9)
        server.send_message(started)

        async def send(status: dict[str, object]) -> None:
            server.send_message(build_status_message(status, thread))

        yield [("running", lambda: send(ACTIVE_STATUS)), ("waiting_approval", lambda: send(WAITING_STATUS))]


def build_screen_steps(actor: RecordedAgent) -> list[StateStep]:
    """Show a dialog, then a working screen."""
    known = {scene.name: scene.screen for scene in load_scenes(actor.agent)}

    async def show(name: str) -> None:
        actor.show_screen(known[name])

    return [("waiting_approval", lambda: show("approval_asked")), ("running", lambda: show("running"))]
