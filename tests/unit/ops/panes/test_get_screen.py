import pytest
from msgspec.structs import replace

from termvisor.clock import NS, format_timestamp
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_the_screen_is_told_with_its_cursor() -> None:
    data = (await run_command(await build_sample_services(), "robot", "get-screen", "agents")).envelope["data"]
    assert data["rows"][1] == "│ 1. Yes  2. No    │"
    assert (data["width"], data["height"], data["cursor_x"], data["cursor_y"]) == (20, 3, 2, 1)
    assert data["is_alternate"]


async def test_a_screen_cannot_act_on_the_readers_terminal() -> None:
    world = await build_sample_services()
    rows = ("\x1b[31mred\x1b]0;owned\x07", "plain\x1b[2J")
    world.panes.screens[PaneId(1)] = Screen(pane=PaneId(1), rows=rows, width=80, height=2)
    assert (await run_command(world, "screen", "1")).out == "red\nplain\n"
    assert (await run_command(world, "screen", "1", colour=True)).out == "\x1b[31mred\x1b[0m\nplain\n"
    assert (await run_command(world, "screen", "1", "--format", "markdown")).out == "```text\nred\nplain\n```\n"


async def _repainting() -> FakeServices:
    """The agent in pane 2 showed two screens, ten seconds apart, and ten more seconds passed."""
    world = await build_sample_services()
    world.show_screen(PaneId(2), "Working", "", "› typed")
    await world.clock.advance(10)
    world.show_screen(PaneId(2), "Do you want to proceed?", "1. Yes")
    await world.clock.advance(10)
    return world


async def test_a_stored_screen_is_the_nearest_at_or_before_the_time_and_says_its_own() -> None:
    world = await _repainting()
    times = {"now": "Do you want to proceed?", "5s": "Do you want to proceed?", "12s": "Working", "20s": "Working"}
    for at, first in times.items():
        data = (await run_command(world, "robot", "get-screen", "2", "--at", at)).envelope["data"]
        assert data["rows"][0] == first
    assert (data["screen"], data["at"]) == (1, format_timestamp(world.clock.now() - 20 * NS))


async def test_a_stored_screen_can_be_named_by_its_number() -> None:
    world = await _repainting()
    answered = await run_command(world, "screen", "2", "--at", "2")
    at = format_timestamp(world.clock.now() - 10 * NS)
    assert answered.out == f"screen 2 of pane 2, {at}\nDo you want to proceed?\n1. Yes\n"
    assert (await run_command(world, "screen", "2", "--at", "2", "-q")).out == "Do you want to proceed?\n1. Yes\n"


async def test_rows_in_which_people_type_are_marked_as_left_out() -> None:
    world = await _repainting()
    shown = world.history.recording.stored_screens
    shown[0] = replace(shown[0], rows=("Working", "", ""), left_out=(2,))
    assert (await run_command(world, "screen", "2", "--at", "1")).out.endswith(
        "\nWorking\n\n[not kept: people type here]\n"
    )
    assert (await run_command(world, "robot", "get-screen", "2", "--at", "1")).envelope["data"]["left_out"] == [2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("2", "--at", "99"), "pane 2 has no stored screen 99"),
        (("1", "--at", "2"), "pane 1 has no stored screen 2"),
        (("2", "--at", "9" * 30), "pane 2 has no stored screen"),
        (("2", "--at", "1h"), "no screen of pane 2 was stored by"),
        (("1", "--at", "now"), "no screen of pane 1 was stored by"),
        (("2", "--at", "soon"), "not a time"),
        (("2", "--at", "now", "--escapes"), "stored screens have no colours"),
    ],
)
async def test_a_screen_that_was_not_stored_is_refused_with_what_to_do(words: tuple[str, ...], message: str) -> None:
    answered = await run_command(await _repainting(), "robot", "get-screen", *words)
    assert (answered.status, answered.envelope["error"]["code"]) == (2, "invalid_args")
    assert message in answered.envelope["error"]["message"]
    assert answered.envelope["hint"]


async def test_a_stored_screen_loses_what_is_a_secret_by_now() -> None:
    world = await build_sample_services()
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    world.show_screen(PaneId(2), f"token {token}")
    assert token not in (await run_command(world, "robot", "get-screen", "2", "--at", "now")).out
