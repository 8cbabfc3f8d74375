"""The contract of backends: one session on every backend and transport, with the same lines, guards and refusals.

class TestMine(BackendContract):
    def build_backend(self, dependencies):
        return MyBackend(dependencies)

    @contextmanager
    def run_server(self, paths):
        with start_my_server(paths.runtime_dir) as address:
            yield Settings(...)

What `Abilities` deny has to be refused with Unsupported. A backend that opens no panes gets them from `open_pane`.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable
from contextlib import AbstractContextManager
from typing import Literal, TypeVar

import pytest
from msgspec.structs import replace

from termvisor.backends.backend import Backend, BackendDependencies
from termvisor.backends.pane_control import AppliedChange, AppliedPaneChange, GuardMismatch
from termvisor.backends.pane_source import PaneCapture, PaneSource
from termvisor.backends.transport import Transport
from termvisor.backends.transports.local import LocalTransport
from termvisor.capture.pane_registry import KnownPane
from termvisor.clock import SystemClock
from termvisor.errors import BadRequest, Unsupported
from termvisor.model.action.action import Spawn
from termvisor.model.ids import MuxPaneId
from termvisor.settings import Paths, Settings, make_instance_folders
from termvisor.testing.capture_scene import CaptureScene, open_capture_scene
from termvisor.testing.private_tmux import make_short_folder

T = TypeVar("T")
COUNTING = ("sh", "-c", "for n in $(seq 60); do echo line-$n; done; exec cat")
"""A program that prints 60 lines and then repeats its input."""


class BackendContract(ABC):
    """Tests of one backend on one transport. They need pytest-asyncio in its automatic mode."""

    @abstractmethod
    def build_backend(self, dependencies: BackendDependencies) -> Backend:
        """Return the backend to test."""

    def build_transport(self) -> Transport:
        return LocalTransport()

    @abstractmethod
    def run_server(self, paths: Paths) -> AbstractContextManager[Settings]:
        """Run a server with at least one pane, and yield the settings by which the backend finds it."""

    async def open_pane(self, scene: CaptureScene, command: tuple[str, ...]) -> MuxPaneId:
        """Open a pane in which a program runs."""
        control = await scene.build_control()
        mux_id, _ = await control.open_pane(Spawn(where="session", command=command), None)
        return mux_id

    @abstractmethod
    async def kill_server(self, scene: CaptureScene) -> None:
        """End the server, or the connection to it for good."""

    @pytest.fixture(name="scene")
    async def open_scene(self) -> AsyncIterator[CaptureScene]:
        with make_short_folder() as folder:
            paths = Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r")
            make_instance_folders(paths)
            with self.run_server(paths) as settings:
                backend = self.build_backend(BackendDependencies(paths=paths, get_settings=lambda: settings))
                async with open_capture_scene(paths, settings, backend, self.build_transport()) as scene:
                    yield scene

    async def start(self, scene: CaptureScene, command: tuple[str, ...] = COUNTING) -> KnownPane:
        """Run a program in a new pane and return the pane once it is captured."""
        await scene.wait_for_watcher()
        return await scene.wait_for_pane(await self.open_pane(scene, command))

    async def require(self, scene: CaptureScene, ability: str, call: Awaitable[T]) -> T | None:
        """Return the result of a call that needs an ability; None if it was rightly refused."""
        if getattr(scene.backend.abilities, ability):
            return await call
        with pytest.raises(Unsupported):
            await call
        return None

    async def test_output_is_captured_completely_and_in_order(self, scene: CaptureScene) -> None:
        pane = await self.start(scene)
        lines = await scene.wait_for_line(pane, "line-60")
        printed = [line for line in lines if line.startswith("line-")]
        first = 1 if scene.backend.abilities.history else int(printed[0].removeprefix("line-"))
        assert printed == [f"line-{number}" for number in range(first, 61)]
        assert await scene.list_gap_causes(pane) == []

    async def test_typed_text_arrives_and_its_echo_is_captured(self, scene: CaptureScene) -> None:
        pane, control = await self.start(scene), await scene.build_control()
        await scene.wait_for_line(pane, "line-60")
        applied = await control.write(scene.build_guard(pane), "héllo #{x} ;")
        assert applied == AppliedChange(guarantee=scene.backend.abilities.guards)
        assert await control.press(scene.build_guard(pane), ["Enter"]) == applied
        lines = await scene.wait_for_line(pane, "héllo #{x} ;")
        assert lines.count("héllo #{x} ;") <= 2

    async def test_nothing_is_typed_if_a_condition_does_not_hold(self, scene: CaptureScene) -> None:
        pane, control = await self.start(scene), await scene.build_control()
        await scene.wait_for_line(pane, "line-60")
        guard = scene.build_guard(pane)
        wrong_guards = {
            "pane": replace(guard, pane=MuxPaneId("%4095")),
            "pid": replace(guard, pid=guard.pid + 1),
            "alternate": replace(guard, alternate=True),
            "screen": replace(guard, shows="no such text"),
            "cursor": replace(guard, cursor=(70, 3)),
        }
        for name, wrong in wrong_guards.items():
            refused = await control.write(wrong, "x")
            assert isinstance(refused, GuardMismatch) and refused.what == name
        state = await control.read_pane_state(pane.facts.mux_id)
        assert state is not None and not any("x" in row for row in state.rows)

    async def test_unknown_keys_are_refused_and_a_known_one_ends_the_program(self, scene: CaptureScene) -> None:
        pane = await self.start(scene, ("sh", "-c", "trap 'echo; echo caught; exec cat' INT; echo up; cat"))
        await scene.wait_for_line(pane, "up")
        control = await scene.build_control()
        with pytest.raises(BadRequest):
            await control.press(scene.build_guard(pane), ["Entr"])
        assert isinstance(await control.press(scene.build_guard(pane), ["C-c"]), AppliedChange)
        await scene.wait_for_line(pane, "caught")

    async def test_the_alternate_screen_is_shown_and_left_again(self, scene: CaptureScene) -> None:
        program = "printf '\\033[?1049h\\033[Hfull'; read x; printf '\\033[?1049l'; echo back; exec cat"
        pane = await self.start(scene, ("sh", "-c", f"echo before; {program}"))
        source, control = await scene.get_source(), await scene.build_control()
        capture = await wait_for_screen(source, pane, "full")
        assert capture.alternate and capture.rows[0].strip() == "full"
        await control.press(scene.build_guard(pane), ["Enter"])
        lines = await scene.wait_for_line(pane, "back")
        assert "before" in lines and not (await source.capture_pane(pane.facts.mux_id)).alternate

    async def test_the_terminal_tells_who_reads_and_takes_signals(self, scene: CaptureScene) -> None:
        pane, terminal = await self.start(scene), await scene.build_terminal()
        await scene.wait_for_line(pane, "line-60")
        state = await self.require(scene, "processes", terminal.read_state(pane.facts))
        if state is not None:
            assert (state.is_pane_process, state.echoes, state.unread_bytes) == (True, True, 0)
            assert await terminal.is_same_process(pane.facts)
            assert await terminal.send_signal(pane.facts, state.foreground_group, "TERM")
            watcher = await scene.wait_for_watcher()
            mux_id = pane.facts.mux_id
            await scene.wait_for(
                lambda: mux_id not in watcher.known_panes or watcher.known_panes[mux_id].facts.dead, "the pane ends"
            )

    @pytest.mark.parametrize(("change", "ability"), [("title", "titles"), ("activate", "activates")])
    async def test_a_pane_is_changed_if_the_backend_is_able_to(
        self, scene: CaptureScene, change: Literal["title", "activate"], ability: str
    ) -> None:
        pane, control = await self.start(scene), await scene.build_control()
        call = control.change_pane(scene.build_guard(pane), change, "a new title")
        applied = await self.require(scene, ability, call)
        assert applied is None or isinstance(applied, AppliedPaneChange)
        if isinstance(applied, AppliedPaneChange) and change == "title":
            assert applied.new_title == "a new title"

    async def test_a_closed_pane_is_gone(self, scene: CaptureScene) -> None:
        pane, control = await self.start(scene), await scene.build_control()
        closed = await self.require(scene, "closes", control.change_pane(scene.build_guard(pane), "close"))
        if closed is not None:
            watcher = await scene.wait_for_watcher()
            await scene.wait_for(lambda: pane.facts.mux_id not in watcher.known_panes, "the closed pane is gone")
            assert await control.read_pane_state(pane.facts.mux_id) is None

    async def test_a_backend_without_the_ability_opens_no_panes(self, scene: CaptureScene) -> None:
        await scene.wait_for_watcher()
        opened = await self.require(
            scene, "spawns", (await scene.build_control()).open_pane(Spawn(where="session", command=("cat",)), None)
        )
        assert opened is None or opened[1] > 0

    async def test_scrollback_is_captured_if_there_is_any(self, scene: CaptureScene) -> None:
        pane, source = await self.start(scene), await scene.get_source()
        await scene.wait_for_line(pane, "line-60")
        capture = await source.capture_pane(pane.facts.mux_id, lines=100)
        rows = [row.strip() for row in capture.rows]
        assert "line-60" in rows and ("line-1" in rows) is scene.backend.abilities.history
        screens = await source.capture_screens([pane.facts.mux_id, MuxPaneId("%4095")])
        assert screens[0] is not None and screens[1] is None

    async def test_a_lost_server_is_a_gap_and_its_panes_are_gone(self, scene: CaptureScene) -> None:
        pane = await self.start(scene)
        await scene.wait_for_line(pane, "line-60")
        watcher = await scene.wait_for_watcher()
        assert scene.backend.is_server_alive(watcher.transport, watcher.server.instance) is not False
        await self.kill_server(scene)
        await scene.wait_for(lambda: watcher.key not in scene.supervisor.watchers, "the watcher ends")
        assert await scene.list_gap_causes(pane) == ["server_gone"]
        assert scene.backend.is_server_alive(watcher.transport, watcher.server.instance) is not True

    async def test_an_attach_plan_names_the_server(self, scene: CaptureScene) -> None:
        pane, watcher = await self.start(scene), await scene.wait_for_watcher()
        plan = scene.backend.plan_attach(watcher.server.instance, pane.facts)
        assert plan.address == watcher.key.address


async def wait_for_screen(source: PaneSource, pane: KnownPane, text: str) -> PaneCapture:
    """Return the first capture of a pane that shows this text."""
    async with asyncio.timeout(20):
        capture = await source.capture_pane(pane.facts.mux_id)
        while not any(text in row for row in capture.rows):
            await SystemClock().sleep(0.02)
            capture = await source.capture_pane(pane.facts.mux_id)
    return capture
