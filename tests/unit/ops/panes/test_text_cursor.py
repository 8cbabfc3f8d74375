import pytest

from termvisor.errors import InvalidCursor
from termvisor.model.ids import PaneId
from termvisor.model.terminal.output import LinePosition
from termvisor.ops.panes._text_cursor import find_last_line_number, format_cursor, parse_cursor
from termvisor.testing.fake_services import FakeServices, build_shell_facts


@pytest.fixture
def services() -> FakeServices:
    services = FakeServices()
    services.print_lines(services.add_pane(build_shell_facts()).id, "one", "two", "three")
    return services


async def test_a_cursor_is_parsed_to_its_line_number(services: FakeServices) -> None:
    pane = PaneId(1)
    for position in (LinePosition(2), LinePosition(0), LinePosition(3, 1_700_000_000_000)):
        assert await parse_cursor(services, pane, format_cursor(pane, position)) == position
    assert format_cursor(pane, LinePosition(2)) == "1:2"
    assert await find_last_line_number(services, pane) == 3


@pytest.mark.parametrize("cursor", ["2:1", "1", "", "1:x", "1:²", "abc:1", "1:4", "1:--1", "1:2.", "1:2.x", "1:2.1.1"])
async def test_a_foreign_cursor_is_rejected_with_the_oldest_valid_one(services: FakeServices, cursor: str) -> None:
    with pytest.raises(InvalidCursor) as caught:
        await parse_cursor(services, PaneId(1), cursor)
    assert caught.value.details == {"oldest": "1:0"}


async def test_a_cursor_before_the_oldest_line_is_rejected(services: FakeServices) -> None:
    services.run_sql("UPDATE block SET first_line = first_line + 100")
    with pytest.raises(InvalidCursor, match="deleted by retention") as caught:
        await parse_cursor(services, PaneId(1), "1:50")
    assert caught.value.details == {"oldest": "1:100"}
    assert await parse_cursor(services, PaneId(1), "1:100") == LinePosition(100)


async def test_the_start_cursor_of_an_empty_pane_is_valid() -> None:
    services = FakeServices()
    services.add_pane(build_shell_facts())
    assert await parse_cursor(services, PaneId(1), "1:0") == LinePosition(0)


async def test_without_stored_lines_the_oldest_cursor_is_the_next_line(services: FakeServices) -> None:
    services.run_sql("DELETE FROM block")
    with pytest.raises(InvalidCursor, match="deleted by retention") as caught:
        await parse_cursor(services, PaneId(1), "1:2")
    assert caught.value.details == {"oldest": "1:3"}
    assert await parse_cursor(services, PaneId(1), "1:3") == LinePosition(3)
    assert await find_last_line_number(services, PaneId(1)) == 3
