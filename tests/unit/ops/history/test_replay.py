"""Replay for programs; users need a terminal."""

import asyncio

import pytest
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import ReplayFrame
from termvisor.ops.api.dispatch import stream_operation
from termvisor.testing.fake_clock import NOON, let_tasks_run
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.testing.operation_calls import run_command

FRAME = ReplayFrame(pane=PaneId(1), at=NOON, width=10, height=2, rows=("\x1b[31mred\x1b[0m", ""), note="gap: link_down")


@pytest.fixture
def services() -> FakeServices:
    services = FakeServices()
    services.add_pane(build_shell_facts())
    services.recording.stored_frames += [replace(FRAME, at=NOON + second * NS, note="") for second in range(5)]
    return services


async def test_each_screen_is_one_object(services: FakeServices) -> None:
    items = (await run_command(services, "robot", "replay", "1")).items
    assert [item["at"][14:19] for item in items] == ["00:00", "00:01", "00:02", "00:03", "00:04"]
    assert items[0]["rows"] == ["\x1b[31mred\x1b[0m", ""]


async def test_only_frames_in_the_time_range_are_returned(services: FakeServices) -> None:
    await services.clock.advance(10)
    items = (await run_command(services, "robot", "replay", "1", "--at", "8s", "--until", "7s")).items
    assert [item["at"][14:19] for item in items] == ["00:02", "00:03"]


async def test_without_a_terminal_the_hint_suggests_an_asciicast(services: FakeServices) -> None:
    answered = await run_command(services, "replay", "1")
    assert answered.status == 2
    assert "export 1 --cast" in answered.err
    assert len((await run_command(services, "replay", "1", "--json")).items) == 5


@pytest.mark.parametrize(
    "argv", [("9",), ("1", "--at", "1m", "--until", "2m"), ("1", "--speed", "-1"), ("1", "--at", "soon"), ()]
)
async def test_an_end_before_the_start_is_rejected(services: FakeServices, argv: tuple[str, ...]) -> None:
    answered = await run_command(services, "robot", "replay", *argv)
    assert answered.status in (2, 4)
    assert not answered.items[0]["ok"]


async def test_frames_are_delayed_by_the_speed(services: FakeServices) -> None:
    seen: list[object] = []

    async def play() -> None:
        seen.extend([item async for item in stream_operation(services, "replay", {"pane": "1", "speed": 2.0})])

    async with asyncio.TaskGroup() as group:
        group.create_task(play())
        for _ in range(5):
            await services.clock.wait_until_asleep()
            await services.clock.advance(0.5)
        await let_tasks_run()
    assert len(seen) == 5
    assert services.clock.now() == NOON + 5 * NS // 2
