import pytest

from termvisor.errors import StaleSnapshot
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


@pytest.fixture
def services() -> FakeServices:
    services = FakeServices()
    services.print_lines(services.add_pane(build_shell_facts()).id, *(f"line {number}" for number in range(1, 61)))
    return services


async def test_get_text_returns_the_last_fifty_lines_and_the_unfinished_one(services: FakeServices) -> None:
    services.print_partial_line(PaneId(1), "Password: ")
    data = (await run_command(services, "robot", "get-text", "1")).envelope["data"]
    assert data["text"].split("\n") == [f"line {number}" for number in range(11, 61)]
    assert (data["pending"], data["cursor"], data["lines"]) == ("Password: ", "1:60", [])


async def test_captured_output_is_stored_before_it_is_read(services: FakeServices) -> None:
    await run_command(services, "get-text", "1")
    assert services.pipeline.settle_count == 1


async def test_continuing_from_the_cursor_returns_every_line_once(services: FakeServices) -> None:
    first = (await run_command(services, "robot", "get-text", "1", "--tail", "1")).envelope["data"]
    services.print_lines(PaneId(1), "new one", "new two", "new three")
    second = (
        await run_command(services, "robot", "get-text", "1", "--since", first["cursor"], "--limit", "2")
    ).envelope["data"]
    third = (await run_command(services, "robot", "get-text", "1", "--since", second["cursor"])).envelope["data"]
    fourth = (await run_command(services, "robot", "get-text", "1", "--since", third["cursor"])).envelope["data"]
    assert (second["text"], second["is_complete"]) == ("new one\nnew two", False)
    assert (third["text"], third["is_complete"]) == ("new three", True)
    assert (fourth["text"], fourth["cursor"]) == ("", third["cursor"])


async def test_line_numbers_are_shown_on_request(services: FakeServices) -> None:
    data = (await run_command(services, "robot", "get-text", "1", "--tail", "1", "--numbers")).envelope["data"]
    assert data["lines"] == [{"number": 60, "at": "2026-01-01T12:00:00.000Z", "text": "line 60"}]


async def test_a_foreign_cursor_is_an_error_that_names_the_oldest(services: FakeServices) -> None:
    answered = await run_command(services, "robot", "get-text", "1", "--since", "9:1")
    assert (answered.status, answered.envelope["error"]["code"]) == (2, "invalid_cursor")
    assert answered.envelope["error"]["details"] == {"oldest": "1:0"}


async def test_a_gap_is_shown_at_its_position() -> None:
    lines = (await run_command(await build_sample_services(), "get-text", "1")).out.splitlines()
    assert lines[3] == "[gap: pipe_stolen, 2026-01-01T12:01:00.000Z to 2026-01-01T12:01:04.000Z]"
    assert lines[4] == "tests passed"


async def test_a_pane_that_printed_nothing_has_empty_text() -> None:
    services = FakeServices()
    services.add_pane(build_shell_facts())
    answered = await run_command(services, "get-text", "1")
    assert (answered.out, answered.status) == ("", 0)


async def test_an_empty_line_is_a_line(services: FakeServices) -> None:
    services.print_lines(PaneId(1), "")
    assert (await run_command(services, "get-text", "1", "--tail", "2")).out == "line 60\n\n"


async def test_a_secret_in_the_store_is_redacted(services: FakeServices) -> None:
    key = "sk-ant-api03-" + "aB3dE5fG7h" * 9
    services.print_lines(PaneId(1), f"export ANTHROPIC_API_KEY={key}")
    services.print_partial_line(PaneId(1), f"echo {key}")
    assert key not in (await run_command(services, "robot", "get-text", "1", "--numbers")).out


async def test_colours_come_from_the_screen(services: FakeServices) -> None:
    row = "\x1b[31mred\x1b[0m"
    services.screens[PaneId(1)] = Screen(pane=PaneId(1), rows=(row,), width=80, height=1)
    data = (await run_command(services, "robot", "get-text", "1", "--escapes")).envelope["data"]
    assert (data["source"], data["text"], data["cursor"]) == ("screen", row, "1:60")
    assert (await run_command(services, "get-text", "1", "--escapes")).out == "red\n"
    assert "\x1b[31mred" in (await run_command(services, "get-text", "1", "--escapes", colour=True)).out


async def test_colours_and_a_number_of_lines_work_together(services: FakeServices) -> None:
    rows = (*(f"\x1b[31mrow {number}\x1b[0m" for number in range(9)), "", "  ")
    services.screens[PaneId(1)] = Screen(pane=PaneId(1), rows=rows, width=80, height=11)
    for option in ("--tail", "--lines"):
        data = (await run_command(services, "robot", "get-text", "1", "--escapes", option, "2")).envelope["data"]
        assert data["text"] == "\n".join(rows[7:9])


@pytest.mark.parametrize("option", ["--since=1:3", "--command=last"])
async def test_colours_of_stored_text_are_refused(services: FakeServices, option: str) -> None:
    answered = await run_command(services, "robot", "get-text", "1", "--escapes", option)
    assert (answered.status, answered.envelope["error"]["code"]) == (2, "invalid_args")


async def test_conditions_are_checked_before_the_text_is_returned(services: FakeServices) -> None:
    await run_command(services, "view-output", "1", "--lines", "3")
    assert services.gate.checked == []
    words = ("view-output", "1", "--lines", "3", "--if-prompt", "--if-tail", "ok", "--stable", "2")
    assert (await run_command(services, *words)).status == 0
    wanted = Preconditions(at_prompt=True, tail="ok", tail_lines=3, stable_for=2.0)
    assert services.gate.checked == [(PaneId(1), wanted)]
    services.gate.error = StaleSnapshot("nothing was done: --if-prompt does not hold")
    answered = await run_command(services, "robot", *words)
    assert (answered.status, answered.envelope["error"]["code"]) == (75, "stale_snapshot")


async def test_a_full_screen_pane_without_lines_answers_with_its_screen() -> None:
    services = await build_sample_services()
    answer = (await run_command(services, "robot", "get-text", "2")).envelope
    assert (answer["data"]["source"], answer["data"]["is_repainting"]) == ("screen", True)
    assert "1. Yes  2. No" in answer["data"]["text"]
    assert "`visor robot search <words> source:screen --pane 2`" in answer["hint"]
    assert "1. Yes  2. No" in (await run_command(services, "get-text", "2", "-q")).out
    assert "`visor search <words> source:screen --pane 2`" in (await run_command(services, "get-text", "2")).out


async def test_lines_printed_before_a_full_screen_program_come_with_a_hint() -> None:
    services = await build_sample_services()
    services.print_lines(PaneId(2), "printed before")
    assert (await run_command(services, "get-text", "2")).out == "printed before\n"
    answer = (await run_command(services, "robot", "get-text", "2")).envelope
    assert (answer["data"]["source"], answer["data"]["text"]) == ("stream", "printed before")
    assert "1. Yes  2. No" in answer["data"]["screen"]
    assert "`visor robot get-screen 2` shows it" in answer["hint"]


@pytest.fixture
def services_with_commands(services: FakeServices) -> FakeServices:
    """After sixty lines, `ls` printed two lines, `false` none, and `make` printed one and still runs."""
    for line, printed, status in (("ls", ("one", "two"), 0), ("false", (), 1)):
        services.start_command(PaneId(1), line)
        services.print_lines(PaneId(1), *printed)
        services.finish_command(PaneId(1), status)
    services.start_command(PaneId(1), "make")
    services.print_lines(PaneId(1), "three")
    services.print_partial_line(PaneId(1), "fo")
    return services


async def test_get_text_returns_the_output_of_one_command(services_with_commands: FakeServices) -> None:
    data = (await run_command(services_with_commands, "robot", "get-text", "1", "--command", "1")).envelope["data"]
    assert (data["text"], data["pending"], data["is_complete"], data["lines_gone"]) == ("one\ntwo", "", True, 0)
    assert (data["command"]["command"], data["command"]["exit_code"], data["cursor"]) == ("ls", 0, "1:63")
    assert (await run_command(services_with_commands, "get-text", "1", "--command", "2")).out == ""


async def test_the_last_command_may_still_run(services_with_commands: FakeServices) -> None:
    answered = await run_command(services_with_commands, "robot", "get-text", "1", "--command", "last")
    data = answered.envelope["data"]
    assert (data["text"], data["pending"], data["command"]["status"]) == ("three", "fo", "running")
    assert (await run_command(services_with_commands, "get-text", "1", "--command", "last")).out == "three\nfo\n"


async def test_long_output_is_read_in_pages(services_with_commands: FakeServices) -> None:
    first = (
        await run_command(services_with_commands, "robot", "get-text", "1", "--command", "1", "--limit", "1")
    ).envelope["data"]
    argv = ("robot", "get-text", "1", "--command", "1", "--since", first["cursor"])
    assert (first["text"], first["is_complete"]) == ("one", False)
    assert (await run_command(services_with_commands, *argv)).envelope["data"]["text"] == "two"


async def test_deleted_lines_of_a_command_are_counted(services_with_commands: FakeServices) -> None:
    services_with_commands.run_sql("DELETE FROM block WHERE first_line <= 62")
    assert (
        await run_command(services_with_commands, "get-text", "1", "--command", "1")
    ).out == "[1 line deleted by retention]\ntwo\n"


async def test_an_unknown_command_is_an_error_of_its_own(services_with_commands: FakeServices) -> None:
    answered = await run_command(services_with_commands, "robot", "get-text", "1", "--command", "99")
    assert (answered.status, answered.envelope["error"]["code"]) == (4, "command_not_found")
    assert (await run_command(services_with_commands, "robot", "get-text", "1", "--command", "first")).status == 2
