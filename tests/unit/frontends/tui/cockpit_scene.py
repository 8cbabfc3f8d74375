"""The cockpit on operations with fake services, in this process: keys are pressed and rows are read."""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

from msgspec import to_builtins
from textual.pilot import Pilot

from termvisor.frontends.tui.cockpit import CockpitApp
from termvisor.frontends.tui.daemon_calls import DaemonCalls
from termvisor.frontends.tui.row_list import RowList
from termvisor.ops.api.dispatch import call_operation, stream_operation
from termvisor.testing.fake_clock import let_tasks_run
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.sample_services import build_sample_services


class InProcessCalls(DaemonCalls):
    """Calls the operations themselves instead of a daemon."""

    def __init__(self, services: FakeServices, on_link: Callable[[str], None]):
        super().__init__(services.paths, on_link, services.clock)
        self._services, self._on_link = services, on_link
        self.made: list[tuple[str, dict[str, Any]]] = []

    async def call(self, name: str, **params: Any) -> Any:
        if name != "health":
            self.made.append((name, params))
        return to_builtins(await call_operation(self._services, name, params))

    async def follow(self, name: str, on_item: Callable[[Any], None], **params: Any) -> None:
        async with aclosing(stream_operation(self._services, name, params)) as items:
            async for item in items:
                on_item(item)
                self._on_link("")


class CockpitScene:
    def __init__(self, app: CockpitApp, pilot: Pilot, services: FakeServices, calls: InProcessCalls):
        self.app, self.pilot, self.services, self.calls = app, pilot, services, calls

    async def press(self, *keys: str) -> None:
        """Press keys, and let a few seconds pass."""
        await self.pilot.press(*keys)
        await self.settle()

    async def settle(self, seconds: float = 1.0) -> None:
        self.app.paint()
        for _ in range(8):
            await let_tasks_run()
            await self.services.clock.advance(seconds / 8)
            await self.pilot.pause()
        self.app.paint()
        await self.pilot.pause()

    async def wait_for_footer(self, text: str) -> None:
        """Let time pass until the footer contains a text."""
        for _ in range(40):
            if text in self.footer:
                return
            await self.settle(0.2)
        raise AssertionError(f"{text!r} is not in {self.footer!r}")

    def read(self, rows: RowList) -> list[str]:
        return ["".join(text for text, _ in row.parts).rstrip() for row in rows.rows]

    @property
    def list_text(self) -> str:
        return "\n".join(self.read(self.app.view.list))

    @property
    def message(self) -> str:
        return "\n".join(self.read(self.app.view.message))

    @property
    def footer(self) -> str:
        return "\n".join(self.read(self.app.view.footer))

    @property
    def dialog(self) -> str:
        return "\n".join(self.read(self.app.view.dialog))

    @property
    def pane_text(self) -> str:
        return "\n".join(self.app.view.pane.get_texts())


@asynccontextmanager
async def open_cockpit(
    width: int = 150, height: int = 42, services: FakeServices | None = None, op: str = "watch"
) -> AsyncIterator[CockpitScene]:
    services = services or await build_sample_services(op=op)
    app = CockpitApp(services.paths, services.clock)
    app.calls = calls = InProcessCalls(services, app.note_link)
    async with app.run_test(size=(width, height)) as pilot:
        scene = CockpitScene(app, pilot, services, calls)
        await scene.settle()
        yield scene
