import pytest

from termvisor.model.ids import PaneId
from termvisor.model.screen import Screen
from termvisor.testing.asking import ask, lively
from termvisor.testing.world import MemoryWorld, shell


@pytest.fixture
def world() -> MemoryWorld:
    world = MemoryWorld()
    world.say(world.pane(shell()).id, *(f"line {number}" for number in range(1, 61)))
    return world


async def test_the_last_fifty_lines_and_the_unfinished_one(world: MemoryWorld) -> None:
    world.begin(PaneId(1), "Password: ")
    data = (await ask(world, "robot", "get-text", "1")).envelope["data"]
    assert data["text"].split("\n") == [f"line {number}" for number in range(11, 61)]
    assert (data["pending"], data["cursor"], data["lines"]) == ("Password: ", "1:60", [])


async def test_what_is_in_the_log_now_is_waited_for(world: MemoryWorld) -> None:
    await ask(world, "get-text", "1")
    assert world.fleet.settled == 1


async def test_reading_on_from_the_cursor_gives_every_line_once(world: MemoryWorld) -> None:
    first = (await ask(world, "robot", "get-text", "1", "--tail", "1")).envelope["data"]
    world.say(PaneId(1), "new one", "new two", "new three")
    second = (await ask(world, "robot", "get-text", "1", "--since", first["cursor"], "--limit", "2")).envelope["data"]
    third = (await ask(world, "robot", "get-text", "1", "--since", second["cursor"])).envelope["data"]
    fourth = (await ask(world, "robot", "get-text", "1", "--since", third["cursor"])).envelope["data"]
    assert (second["text"], second["is_complete"]) == ("new one\nnew two", False)
    assert (third["text"], third["is_complete"]) == ("new three", True)
    assert (fourth["text"], fourth["cursor"]) == ("", third["cursor"])


async def test_numbers_come_on_request(world: MemoryWorld) -> None:
    data = (await ask(world, "robot", "get-text", "1", "--tail", "1", "--numbers")).envelope["data"]
    assert data["lines"] == [{"number": 60, "at": "2026-01-01T12:00:00.000Z", "text": "line 60"}]


async def test_a_foreign_cursor_is_an_error_that_names_the_oldest(world: MemoryWorld) -> None:
    answered = await ask(world, "robot", "get-text", "1", "--since", "9:1")
    assert (answered.status, answered.envelope["error"]["code"]) == (2, "invalid_cursor")
    assert answered.envelope["error"]["details"] == {"oldest": "1:0"}


async def test_a_gap_stands_where_something_is_missing() -> None:
    lines = (await ask(await lively(), "get-text", "1")).out.splitlines()
    assert lines[3] == "[gap: pipe_stolen, 2026-01-01T12:01:00.000Z to 2026-01-01T12:01:04.000Z]"
    assert lines[4] == "tests passed"


async def test_a_pane_that_printed_nothing_has_empty_text() -> None:
    world = MemoryWorld()
    world.pane(shell())
    answered = await ask(world, "get-text", "1")
    assert (answered.out, answered.status) == ("", 0)


async def test_an_empty_line_is_a_line(world: MemoryWorld) -> None:
    world.say(PaneId(1), "")
    assert (await ask(world, "get-text", "1", "--tail", "2")).out == "line 60\n\n"


async def test_a_secret_that_reached_the_store_is_still_not_told(world: MemoryWorld) -> None:
    key = "sk-ant-api03-" + "aB3dE5fG7h" * 9
    world.say(PaneId(1), f"export ANTHROPIC_API_KEY={key}")
    world.begin(PaneId(1), f"echo {key}")
    assert key not in (await ask(world, "robot", "get-text", "1", "--numbers")).out


async def test_colours_come_from_the_screen(world: MemoryWorld) -> None:
    row = "\x1b[31mred\x1b[0m"
    world.fleet.screens[PaneId(1)] = Screen(pane=PaneId(1), rows=(row,), width=80, height=1)
    data = (await ask(world, "robot", "get-text", "1", "--escapes")).envelope["data"]
    assert (data["source"], data["text"], data["cursor"]) == ("screen", row, "1:60")
    assert (await ask(world, "get-text", "1", "--escapes")).out == "red\n"
    assert "\x1b[31mred" in (await ask(world, "get-text", "1", "--escapes", colour=True)).out
