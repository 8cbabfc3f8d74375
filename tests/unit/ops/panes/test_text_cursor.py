import msgspec
import pytest

from termvisor.errors import InvalidCursor
from termvisor.model.ids import PaneId
from termvisor.ops.panes._text_cursor import newest, read, write
from termvisor.testing.world import MemoryWorld, shell


@pytest.fixture
def world() -> MemoryWorld:
    world = MemoryWorld()
    world.say(world.pane(shell()).id, "one", "two", "three")
    return world


async def test_a_cursor_says_after_which_line_to_go_on(world: MemoryWorld) -> None:
    pane = PaneId(1)
    assert await read(world, pane, write(pane, 2)) == 2
    assert await read(world, pane, write(pane, 0)) == 0
    assert await newest(world, pane) == 3


@pytest.mark.parametrize("cursor", ["2:1", "1", "", "1:x", "1:²", "abc:1", "1:4", "1:--1"])
async def test_a_foreign_cursor_is_refused_with_the_oldest_valid_one(world: MemoryWorld, cursor: str) -> None:
    with pytest.raises(InvalidCursor) as caught:
        await read(world, PaneId(1), cursor)
    assert caught.value.details == {"oldest": "1:0"}


async def test_a_cursor_older_than_what_is_kept_is_refused(world: MemoryWorld) -> None:
    world.history.stored = [msgspec.structs.replace(line, number=line.number + 100) for line in world.history.stored]
    with pytest.raises(InvalidCursor, match="no longer kept") as caught:
        await read(world, PaneId(1), "1:50")
    assert caught.value.details == {"oldest": "1:100"}
    assert await read(world, PaneId(1), "1:100") == 100


async def test_a_pane_that_printed_nothing_has_a_beginning_too() -> None:
    world = MemoryWorld()
    world.pane(shell())
    assert await read(world, PaneId(1), "1:0") == 0


async def test_where_no_line_is_kept_the_next_one_is_the_oldest(world: MemoryWorld) -> None:
    world.history.stored.clear()
    with pytest.raises(InvalidCursor, match="no longer kept") as caught:
        await read(world, PaneId(1), "1:2")
    assert caught.value.details == {"oldest": "1:3"}
    assert await read(world, PaneId(1), "1:3") == await newest(world, PaneId(1)) == 3
