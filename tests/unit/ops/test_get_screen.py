from termvisor.model.ids import PaneId
from termvisor.model.screen import Screen
from termvisor.testing.asking import ask, lively


async def test_the_screen_is_told_with_its_cursor() -> None:
    data = (await ask(await lively(), "robot", "get-screen", "agents")).envelope["data"]
    assert data["rows"][1] == "│ 1. Yes  2. No    │"
    assert (data["width"], data["height"], data["cursor_x"], data["cursor_y"]) == (20, 3, 2, 1)
    assert data["is_alternate"]


async def test_a_screen_cannot_act_on_the_readers_terminal() -> None:
    world = await lively()
    rows = ("\x1b[31mred\x1b]0;owned\x07", "plain\x1b[2J")
    world.fleet.screens[PaneId(1)] = Screen(pane=PaneId(1), rows=rows, width=80, height=2)
    assert (await ask(world, "screen", "1")).out == "red\nplain\n"
    assert (await ask(world, "screen", "1", colour=True)).out == "\x1b[31mred\x1b[0m\nplain\n"
    assert (await ask(world, "screen", "1", "--format", "markdown")).out == "```text\nred\nplain\n```\n"
