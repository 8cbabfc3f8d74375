"""How long what an agent does takes to be its state, by each way in which it is told.

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
from termvisor.testing.instance import Instance, instance
from termvisor.testing.tmux import PrivateTmux, private_tmux, short_folder
from tests.bench.chatter import Chatter, open_panes
from tests.bench.figure import Figure, percentile
from tests.live.waiting import until
from tests.recordings.actor import HEIGHT, WIDTH, Actor, replaced
from tests.recordings.scene import scenes
from tests.unit.agents.adapters.codex.server_client.codex_server import codex_server
from tests.unit.agents.adapters.codex.server_words import ACTIVE, ASKS, changed, started

Step = tuple[str, Callable[[], Awaitable[None]]]
"""The state that is to come, and what the agent does for it."""
OTHERS = 10


def states(rounds: int = 40) -> list[Figure]:
    with short_folder() as folder, private_tmux(folder) as tmux:
        chatter = Chatter(open_panes(tmux, folder, OTHERS))
        stage = Stage(tmux, folder)
        try:
            with instance(folder, tmux.socket) as one:
                hook_script.install(one.places)
                until(lambda: stage.is_known(one), seconds=60)
                return asyncio.run(_measured(stage, one, rounds))
        finally:
            stage.close()
            chatter.close()


async def _measured(stage: Stage, one: Instance, rounds: int) -> list[Figure]:
    async with connect(one.places) as visor, Listener(visor).listening() as listener:
        hook = await listener.times(stage["gemini"], hooks(stage, one), rounds)
        file = await listener.times(stage["claude_code"], registry(stage), rounds)
        ends = await listener.times(stage["claude_code"], ending(stage), rounds // 2)
        mark = await listener.times(stage["codex"], marks(stage["codex"]), rounds)
        async with served(stage["served"]) as steps:
            server = await listener.times(stage["served"], steps, rounds)
        screen = await listener.times(stage["opencode"], screens(stage["opencode"]), rounds // 4)
    return [
        _figure("hook to state, p95", hook, 50),
        _figure("registry file to state, p95", file, 100),
        _figure("registry file to rest, p95", ends[1::2], 500),
        _figure("app-server to state, p95", server, 100),
        _figure("OSC mark to state, p95", mark, 100),
        _figure("screen to state, p95", screen, 1500),
    ]


def _figure(name: str, times: list[float], budget: float) -> Figure:
    return Figure(name, 1000 * percentile(times, 0.95), budget, "ms", f"{len(times)} changes")


class Stage:
    """One agent for each way; `served` is a Codex beside a server."""

    def __init__(self, tmux: PrivateTmux, folder: str):
        self._tmux = tmux
        agents = {"gemini": "gemini", "claude_code": "claude_code", "codex": "codex", "opencode": "opencode"}
        agents["served"] = "codex"
        self._actors = {name: Actor(folder, n, agent) for n, (name, agent) in enumerate(agents.items())}
        for name, actor in self._actors.items():
            actor.enter(lambda command, name=name: tmux.start(name, command, width=WIDTH, height=HEIGHT), tmux)

    def __getitem__(self, name: str) -> Actor:
        return self._actors[name]

    def is_known(self, one: Instance) -> bool:
        panes = {item["identity"]["pane_id"]: item["agent"] for item in one.robot("state")["items"]}
        return all(panes.get(actor.mux_id) == actor.agent for actor in self._actors.values())

    def close(self) -> None:
        for actor in self._actors.values():
            actor.leave()

    @property
    def socket(self) -> str:
        return self._tmux.socket


class Listener:
    """Whoever watches the agents: hears every change as it is told."""

    def __init__(self, visor: AsyncVisor):
        self._visor = visor
        self._heard: asyncio.Queue[tuple[int, str, float]] = asyncio.Queue()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[Listener]:
        task = asyncio.ensure_future(self._listen())
        await asyncio.sleep(0.3)
        try:
            yield self
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _listen(self) -> None:
        async for event in self._visor.watch_events(kind="state_changed"):
            self._heard.put_nowait((event["pane"], event["data"]["after"], time.monotonic()))

    async def times(self, actor: Actor, steps: list[Step], rounds: int) -> list[float]:
        """Seconds of each change; the first round is not counted, in it everything is read for the first time."""
        panes = (await self._visor.list_panes())["items"]
        pane = next(one["identity"]["id"] for one in panes if one["identity"]["pane_id"] == actor.mux_id)
        found = []
        for number in range(rounds + len(steps)):
            state, act = steps[number % len(steps)]
            began = time.monotonic()
            await act()
            found.append(await self._until(pane, state) - began)
            await asyncio.sleep(0.03)
        return found[len(steps) :]

    async def _until(self, pane: int, state: str) -> float:
        async with asyncio.timeout(30):
            while True:
                whose, found, at = await self._heard.get()
                if (whose, found) == (pane, state):
                    return at


def hooks(stage: Stage, one: Instance) -> list[Step]:
    """By the very script that agents run."""
    actor = stage["gemini"]
    env = {**os.environ, "TMUX": f"{stage.socket},1,0", "TMUX_PANE": actor.mux_id}

    async def run(event: str, **payload: str) -> None:
        script = await asyncio.create_subprocess_exec(
            "sh", one.places.hook_file, "tell", "gemini", event, str(actor.pid), stdin=asyncio.subprocess.PIPE, env=env
        )
        await script.communicate(json.dumps({"session_id": "s", **payload}).encode())

    return [
        ("running", lambda: run("BeforeAgent", prompt="go")),
        ("completed", lambda: run("AfterAgent", prompt_response="gone")),
    ]


def registry(stage: Stage) -> list[Step]:
    return [("running", _status(stage, "busy")), ("waiting_input", _status(stage, "waiting"))]


def ending(stage: Stage) -> list[Step]:
    """Rest is believed a moment later: whether the turn ended well is told elsewhere."""
    return [("running", _status(stage, "busy")), ("idle", _status(stage, "idle"))]


def _status(stage: Stage, status: str) -> Callable[[], Awaitable[None]]:
    actor = stage["claude_code"]
    path = actor.home / ".claude/sessions" / f"{actor.pid}.json"
    path.parent.mkdir(parents=True, exist_ok=True)

    async def write() -> None:
        now = time.time_ns() // 10**6
        told = {"pid": actor.pid, "sessionId": "s", "status": status, "updatedAt": now, "statusUpdatedAt": now}
        replaced(path, json.dumps(told))

    return write


def marks(actor: Actor) -> list[Step]:
    async def say(state: str) -> None:
        actor.print(f"\x1b]7501;state={state}:app=codex\x1b\\")

    return [("running", lambda: say("working")), ("waiting_approval", lambda: say("blocked:kind=permission"))]


@asynccontextmanager
async def served(actor: Actor) -> AsyncIterator[list[Step]]:
    """A server in this Codex' home, with a thread in its folder."""
    thread = f"{time.time_ns() // 10**6:012x}"
    thread = f"{thread[:8]}-{thread[8:]}-7552-9a96-bdc8cca6f404"
    async with codex_server(str(actor.home / ".codex")) as server:
        await server.was_asked("thread/list")
        about = started(thread, cwd=str(actor.cwd), createdAt=time.time_ns() // 10**9)
        server.say(about)

        async def say(status: dict[str, object]) -> None:
            server.say(changed(status, thread))

        yield [("running", lambda: say(ACTIVE)), ("waiting_approval", lambda: say(ASKS))]


def screens(actor: Actor) -> list[Step]:
    """A dialog, and work."""
    known = {scene.name: scene.screen for scene in scenes(actor.agent)}

    async def show(name: str) -> None:
        actor.show(known[name])

    return [("waiting_approval", lambda: show("approval_asked")), ("running", lambda: show("running"))]
