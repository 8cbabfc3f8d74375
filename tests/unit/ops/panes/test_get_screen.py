import pytest

from termvisor.clock import NS, format_timestamp
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_the_screen_is_returned_with_its_cursor() -> None:
    data = (await run_command(await build_sample_services(), "robot", "get-screen", "agents")).envelope["data"]
    assert data["rows"][1] == "│ 1. Yes  2. No    │"
    assert (data["width"], data["height"], data["cursor_x"], data["cursor_y"]) == (20, 3, 2, 1)
    assert data["is_alternate"]


async def test_escape_sequences_of_a_screen_are_removed() -> None:
    services = await build_sample_services()
    rows = ("\x1b[31mred\x1b]0;owned\x07", "plain\x1b[2J")
    services.screens[PaneId(1)] = Screen(pane=PaneId(1), rows=rows, width=80, height=2)
    assert (await run_command(services, "screen", "1")).out == "red\nplain\n"
    assert (await run_command(services, "screen", "1", colour=True)).out == "\x1b[31mred\x1b[0m\nplain\n"
    assert (await run_command(services, "screen", "1", "--format", "markdown")).out == "```text\nred\nplain\n```\n"


async def _build_full_screen_services() -> FakeServices:
    """The agent in pane 2 showed two screens, ten seconds apart, and ten more seconds passed."""
    services = await build_sample_services()
    services.show_screen(PaneId(2), "Working", "", "› typed")
    await services.clock.advance(10)
    services.show_screen(PaneId(2), "Do you want to proceed?", "1. Yes")
    await services.clock.advance(10)
    return services


async def test_the_last_screen_at_or_before_the_time_is_returned_with_its_own_time() -> None:
    services = await _build_full_screen_services()
    times = {"now": "Do you want to proceed?", "5s": "Do you want to proceed?", "12s": "Working", "20s": "Working"}
    for at, first in times.items():
        data = (await run_command(services, "robot", "get-screen", "2", "--at", at)).envelope["data"]
        assert data["rows"][0] == first
    assert (data["screen"], data["at"]) == (1, format_timestamp(services.clock.now() - 20 * NS))


async def test_a_stored_screen_can_be_named_by_its_number() -> None:
    services = await _build_full_screen_services()
    answered = await run_command(services, "screen", "2", "--at", "2")
    at = format_timestamp(services.clock.now() - 10 * NS)
    assert answered.out == f"screen 2 of pane 2, {at}\nDo you want to proceed?\n1. Yes\n"
    assert (await run_command(services, "screen", "2", "--at", "2", "-q")).out == "Do you want to proceed?\n1. Yes\n"


async def test_input_rows_are_marked_as_not_stored() -> None:
    services = await _build_full_screen_services()
    services.show_screen(PaneId(2), "Waiting", "", "› typed", input_row=2)
    assert (await run_command(services, "screen", "2", "--at", "3")).out.endswith(
        "\nWaiting\n\n[input row, not stored]\n"
    )
    assert (await run_command(services, "robot", "get-screen", "2", "--at", "3")).envelope["data"]["left_out"] == [2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("2", "--at", "99"), "screen 99 of pane 2 not found"),
        (("1", "--at", "2"), "screen 2 of pane 1 not found"),
        (("2", "--at", "9" * 30), "of pane 2 not found"),
        (("2", "--at", "1h"), "no screen of pane 2 was stored before"),
        (("1", "--at", "now"), "no screen of pane 1 was stored before"),
        (("2", "--at", "soon"), "invalid time"),
        (("2", "--at", "now", "--escapes"), "stored screens have no colours"),
    ],
)
async def test_a_screen_that_was_not_stored_is_an_error_with_a_hint(words: tuple[str, ...], message: str) -> None:
    answered = await run_command(await _build_full_screen_services(), "robot", "get-screen", *words)
    assert (answered.status, answered.envelope["error"]["code"]) == (2, "invalid_args")
    assert message in answered.envelope["error"]["message"]
    assert answered.envelope["hint"]


async def test_a_stored_screen_is_redacted_again() -> None:
    services = await build_sample_services()
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    services.show_screen(PaneId(2), f"token {token}")
    assert token not in (await run_command(services, "robot", "get-screen", "2", "--at", "now")).out
