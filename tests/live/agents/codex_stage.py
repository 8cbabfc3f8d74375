"""Real Codexes of one home: several panes, the server that they share, and us as one more who listens to it."""

import asyncio
import contextlib
import threading
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from termvisor.agents.adapters.adapter import Process, Record
from termvisor.agents.adapters.codex import ADAPTER
from termvisor.agents.adapters.codex import server_client as served
from termvisor.agents.adapters.codex.server_client.app_server import AppServer
from termvisor.agents.adapters.server_contract import Face
from termvisor.agents.sources.pane_processes import Processes
from termvisor.agents.sources.server_connection import ServerEar, Surroundings
from termvisor.clock import SystemClock
from termvisor.system.foreground_process import began_at
from termvisor.testing.leftovers import end_all_of
from termvisor.testing.tmux import PrivateTmux
from tests.live.agents.hooked import SPOOL, hook
from tests.live.agents.lab import CODEX, Workplace
from tests.live.agents.stage import Stage
from tests.live.waiting import until

READY = "Ask Codex"
TURN_HOOKS = ("SessionStart", "UserPromptSubmit", "PreModelRequest", "PostModelRequest", "Stop", "Interrupt")
HOOKS = (*TURN_HOOKS, "PreToolUse", "PermissionRequest", "PostToolUse", "PreCompact", "PostCompact", "SessionEnd")
ALONE = ("--disable", "daemon_auto_start")
T = TypeVar("T")


@dataclass(frozen=True)
class Desk(Workplace):
    """One folder to work in, of the home that all share."""

    name: str = "work"

    @property
    def cwd(self) -> Path:
        return self.folder / self.name


class Pane(Stage):
    @property
    def output(self) -> Path:
        """Without the per cent sign of tmux' name, which tmux would take for a part of the time."""
        return self.place.folder / f"output{self.pane[1:]}"


def settle(place: Workplace) -> None:
    """A home whose hooks and notify program append one line each to the spool file."""
    CODEX.settle(place)
    (place.folder / "spool").mkdir(exist_ok=True)
    place.write(
        ".codex/hooks.json",
        {"hooks": {name: [{"hooks": [{"type": "command", "command": hook(place, "codex", name)}]}] for name in HOOKS}},
    )
    notify = place.folder / "bin" / "told"
    notify.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$1\" >> '{place.folder / SPOOL}.notify'\n")
    notify.chmod(0o755)
    config = place.home / ".codex/config.toml"
    config.write_text(f'notify = ["{notify}"]\n{config.read_text()}')


class Listening:
    """To an `AppServer`, on a loop in a thread of its own."""

    def __init__(self, home: Path, faces: Any):
        self.records: list[Record] = []
        self._loop = asyncio.new_event_loop()
        around = Surroundings(faces=faces, others=self._nobody, heard=self._heard, clock=SystemClock())
        self.ear = ServerEar("codex", str(home), served, around)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def call(self, act: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(act, self._loop).result(20)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join(10)

    async def _heard(self, records: list[Record]) -> None:
        self.records += records

    async def _nobody(self) -> list[Face]:
        return []

    def _run(self) -> None:
        self._task = self._loop.create_task(self.ear.run())
        with contextlib.suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._task)
        self._loop.close()


@dataclass
class House:
    """A home with its panes."""

    tmux: PrivateTmux
    folder: Path
    model: str
    stages: list[Stage] = field(default_factory=list)
    _faces: list[Face] = field(default_factory=list)
    _processes: Processes = field(default_factory=lambda: Processes(ADAPTER.env_names))

    def __post_init__(self) -> None:
        settle(Desk(self.folder, self.model))
        self.listening = Listening(self.home, self.faces)

    @property
    def home(self) -> Path:
        return self.folder / "home" / ".codex"

    @property
    def server(self) -> AppServer:
        server = self.listening.ear.server
        assert isinstance(server, AppServer)
        return server

    def open(self, name: str, *words: str, shows: str = READY) -> Stage:
        """Another Codex, at work in the folder of that name."""
        desk = Desk(self.folder, self.model, name)
        desk.cwd.mkdir(exist_ok=True)
        stage = Pane(self.tmux, desk, CODEX)
        stage.start(shows, *words)
        self.stages.append(stage)
        self.look_again()
        return stage

    def close(self, stage: Stage) -> None:
        self.stages.remove(stage)
        self.tmux("kill-pane", "-t", stage.pane)
        self.look_again()

    def process(self, stage: Stage) -> Process | None:
        first = int(self.tmux.ask(stage.pane, "#{pane_pid}"))
        return ADAPTER.recognise(self._processes.survey({stage.pane: first})[stage.pane])

    def faces(self) -> list[Face]:
        return self._faces

    def look_again(self) -> None:
        """Who lives, and which threads there are now."""
        now = SystemClock().now()
        living = [process for stage in self.stages if (process := self.process(stage)) is not None]
        self._faces = [Face(process, began_at(process.pid_started, now)) for process in living]
        self.listening.call(self._look_again())

    async def _look_again(self) -> None:
        self.server.look_again()

    def connected(self) -> None:
        until(lambda: self.listening.ear.health.status == "well", seconds=60)

    def reap(self) -> None:
        """The server and its updater outlive every pane."""
        self.listening.close()
        for stage in self.stages:
            self.tmux("kill-pane", "-t", stage.pane)
        end_all_of(str(self.folder))


@contextlib.contextmanager
def house(tmux: PrivateTmux, folder: Path, model: str) -> Iterator[House]:
    one = House(tmux, folder, model)
    try:
        yield one
    finally:
        one.reap()
