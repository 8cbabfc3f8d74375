import msgspec
import pytest

from termvisor.errors import InvalidCursor
from termvisor.model.ids import PaneId
from termvisor.ops.panes._text_cursor import find_last_line_number, format_cursor, parse_cursor
from termvisor.testing.fake_services import FakeServices, build_shell_facts


@pytest.fixture
def world() -> FakeServices:
    world = FakeServices()
    world.print_lines(world.add_pane(build_shell_facts()).id, "one", "two", "three")
    return world


async def test_a_cursor_says_after_which_line_to_go_on(world: FakeServices) -> None:
    pane = PaneId(1)
    assert await parse_cursor(world, pane, format_cursor(pane, 2)) == 2
    assert await parse_cursor(world, pane, format_cursor(pane, 0)) == 0
    assert await find_last_line_number(world, pane) == 3


@pytest.mark.parametrize("cursor", ["2:1", "1", "", "1:x", "1:²", "abc:1", "1:4", "1:--1"])
async def test_a_foreign_cursor_is_refused_with_the_oldest_valid_one(world: FakeServices, cursor: str) -> None:
    with pytest.raises(InvalidCursor) as caught:
        await parse_cursor(world, PaneId(1), cursor)
    assert caught.value.details == {"oldest": "1:0"}


async def test_a_cursor_older_than_what_is_kept_is_refused(world: FakeServices) -> None:
    world.history.stored_lines = [
        msgspec.structs.replace(line, number=line.number + 100) for line in world.history.stored_lines
    ]
    with pytest.raises(InvalidCursor, match="no longer kept") as caught:
        await parse_cursor(world, PaneId(1), "1:50")
    assert caught.value.details == {"oldest": "1:100"}
    assert await parse_cursor(world, PaneId(1), "1:100") == 100


async def test_a_pane_that_printed_nothing_has_a_beginning_too() -> None:
    world = FakeServices()
    world.add_pane(build_shell_facts())
    assert await parse_cursor(world, PaneId(1), "1:0") == 0


async def test_where_no_line_is_kept_the_next_one_is_the_oldest(world: FakeServices) -> None:
    world.history.stored_lines.clear()
    with pytest.raises(InvalidCursor, match="no longer kept") as caught:
        await parse_cursor(world, PaneId(1), "1:2")
    assert caught.value.details == {"oldest": "1:3"}
    assert await parse_cursor(world, PaneId(1), "1:3") == await find_last_line_number(world, PaneId(1)) == 3
