"""Screens of the past for programs; people need a terminal."""

import asyncio

import pytest
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.model.ids import PaneId
from termvisor.model.terminal.frame import Frame
from termvisor.ops.api.dispatch import stream
from termvisor.testing.asking import ask
from termvisor.testing.world import NOON, MemoryWorld, settled, shell

FRAME = Frame(pane=PaneId(1), at=NOON, width=10, height=2, rows=("\x1b[31mred\x1b[0m", ""), note="gap: link_down")


@pytest.fixture
def world() -> MemoryWorld:
    world = MemoryWorld()
    world.pane(shell())
    world.history.recording.drawn += [replace(FRAME, at=NOON + second * NS, note="") for second in range(5)]
    return world


async def test_each_screen_is_one_object(world: MemoryWorld) -> None:
    items = (await ask(world, "robot", "replay", "1")).items
    assert [item["at"][14:19] for item in items] == ["00:00", "00:01", "00:02", "00:03", "00:04"]
    assert items[0]["rows"] == ["\x1b[31mred\x1b[0m", ""]


async def test_only_the_span_is_given(world: MemoryWorld) -> None:
    await world.clock.advance(10)
    items = (await ask(world, "robot", "replay", "1", "--at", "8s", "--until", "7s")).items
    assert [item["at"][14:19] for item in items] == ["00:02", "00:03"]


async def test_a_person_without_a_terminal_is_told_of_the_film(world: MemoryWorld) -> None:
    answered = await ask(world, "replay", "1")
    assert answered.status == 2
    assert "export 1 --cast" in answered.err
    assert len((await ask(world, "replay", "1", "--json")).items) == 5


@pytest.mark.parametrize(
    "argv", [("9",), ("1", "--at", "1m", "--until", "2m"), ("1", "--speed", "-1"), ("1", "--at", "soon"), ()]
)
async def test_what_makes_no_sense_is_refused(world: MemoryWorld, argv: tuple[str, ...]) -> None:
    answered = await ask(world, "robot", "replay", *argv)
    assert answered.status in (2, 4)
    assert not answered.items[0]["ok"]


async def test_at_a_speed_time_goes_by_between_the_screens(world: MemoryWorld) -> None:
    seen: list[object] = []

    async def look() -> None:
        seen.extend([item async for item in stream(world, "replay", {"pane": "1", "speed": 2.0})])

    async with asyncio.TaskGroup() as group:
        group.create_task(look())
        for _ in range(5):
            await world.clock.until_asleep()
            await world.clock.advance(0.5)
        await settled()
    assert len(seen) == 5
    assert world.clock.now() == NOON + 5 * NS // 2
