"""Screens of the past for programs; people need a terminal."""

import asyncio

import pytest
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.model.ids import PaneId
from termvisor.model.terminal.frame import ReplayFrame
from termvisor.ops.api.dispatch import stream_operation
from termvisor.testing.fake_services import NOON, FakeServices, build_shell_facts, let_tasks_run
from termvisor.testing.operation_calls import run_command

FRAME = ReplayFrame(pane=PaneId(1), at=NOON, width=10, height=2, rows=("\x1b[31mred\x1b[0m", ""), note="gap: link_down")


@pytest.fixture
def world() -> FakeServices:
    world = FakeServices()
    world.add_pane(build_shell_facts())
    world.history.recording.stored_frames += [replace(FRAME, at=NOON + second * NS, note="") for second in range(5)]
    return world


async def test_each_screen_is_one_object(world: FakeServices) -> None:
    items = (await run_command(world, "robot", "replay", "1")).items
    assert [item["at"][14:19] for item in items] == ["00:00", "00:01", "00:02", "00:03", "00:04"]
    assert items[0]["rows"] == ["\x1b[31mred\x1b[0m", ""]


async def test_only_the_span_is_given(world: FakeServices) -> None:
    await world.clock.advance(10)
    items = (await run_command(world, "robot", "replay", "1", "--at", "8s", "--until", "7s")).items
    assert [item["at"][14:19] for item in items] == ["00:02", "00:03"]


async def test_a_person_without_a_terminal_is_told_of_the_film(world: FakeServices) -> None:
    answered = await run_command(world, "replay", "1")
    assert answered.status == 2
    assert "export 1 --cast" in answered.err
    assert len((await run_command(world, "replay", "1", "--json")).items) == 5


@pytest.mark.parametrize(
    "argv", [("9",), ("1", "--at", "1m", "--until", "2m"), ("1", "--speed", "-1"), ("1", "--at", "soon"), ()]
)
async def test_what_makes_no_sense_is_refused(world: FakeServices, argv: tuple[str, ...]) -> None:
    answered = await run_command(world, "robot", "replay", *argv)
    assert answered.status in (2, 4)
    assert not answered.items[0]["ok"]


async def test_at_a_speed_time_goes_by_between_the_screens(world: FakeServices) -> None:
    seen: list[object] = []

    async def look() -> None:
        seen.extend([item async for item in stream_operation(world, "replay", {"pane": "1", "speed": 2.0})])

    async with asyncio.TaskGroup() as group:
        group.create_task(look())
        for _ in range(5):
            await world.clock.wait_until_asleep()
            await world.clock.advance(0.5)
        await let_tasks_run()
    assert len(seen) == 5
    assert world.clock.now() == NOON + 5 * NS // 2
