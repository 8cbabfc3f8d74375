import pytest

from termvisor.model.ids import PaneId
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.testing.operation_calls import run_command

PANE = PaneId(1)


@pytest.fixture
async def services() -> FakeServices:
    """Four commands in two panes: one failed, one ran well, one is lost, one still runs."""
    services = FakeServices()
    services.add_pane(build_shell_facts())
    services.add_pane(build_shell_facts("%2", session="other"))
    for line, status in (("make Test", 2), ("ls", 0), ("ssh far", None)):
        services.start_command(PANE, line)
        await services.clock.advance(1.5)
        services.finish_command(PANE, status)
    await services.clock.advance(60)
    services.start_command(PaneId(2), "make all")
    await services.clock.advance(5)
    return services


async def test_commands_are_listed_oldest_first_with_their_exit_status(services: FakeServices) -> None:
    data = (await run_command(services, "robot", "commands")).envelope["data"]
    assert [(item["id"], item["status"], item["exit_code"], item["seconds"]) for item in data["items"]] == [
        (1, "finished", 2, 1.5),
        (2, "finished", 0, 1.5),
        (3, "lost", None, None),
        (4, "running", None, 5.0),
    ]
    assert data["summary"] == {"commands": 4, "failed": 1, "by_status": {"finished": 2, "lost": 1, "running": 1}}
    assert data["items"][3]["identity"]["session_name"] == "other"


@pytest.mark.parametrize(
    ("argv", "ids"),
    [
        (("--failed",), [1]),
        (("--pane", "2"), [4]),
        (("--text", "MAKE"), [1, 4]),
        (("--since", "30s"), [4]),
        (("--limit", "2"), [3, 4]),
        (("--pane", "1", "--text", "nothing"), []),
    ],
)
async def test_commands_are_filtered(services: FakeServices, argv: tuple[str, ...], ids: list[int]) -> None:
    data = (await run_command(services, "robot", "commands", *argv)).envelope["data"]
    assert [item["id"] for item in data["items"]] == ids


async def test_text_output_is_a_table(services: FakeServices) -> None:
    lines = (await run_command(services, "commands", width=80)).out.splitlines()
    assert lines[0].split() == ["ID", "PANE", "EXIT", "DURATION", "AGE", "CWD", "COMMAND"]
    assert [line.split()[2] for line in lines[1:5]] == ["2", "0", "lost", "running"]
    assert lines[-1] == "4 commands, 1 failed"


async def test_command_lines_are_redacted_and_sanitized(services: FakeServices) -> None:
    key = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    services.start_command(PANE, f"login {key} \x1b]0;evil\x07")
    answered = await run_command(services, "commands")
    assert "login" in answered.out and key not in answered.out and "\x1b" not in answered.out


async def test_an_empty_listing_suggests_shell_setup() -> None:
    assert "visor setup shell" in (await run_command(FakeServices(), "commands")).out
    assert (await run_command(FakeServices(), "commands", "--failed")).out == "No matching commands.\n"


async def test_a_pane_that_does_not_exist_is_an_error(services: FakeServices) -> None:
    assert (await run_command(services, "commands", "--pane", "9")).status == 4
