import pytest

from termvisor.clock import NS
from termvisor.errors import BadRequest, CommandNotFound
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.command import ShellCommand
from termvisor.ops.history._command_item import build_command_facts, format_duration, format_exit_code, resolve_command
from termvisor.testing.fake_clock import NOON
from termvisor.testing.fake_services import FakeServices, build_shell_facts

PANE = PaneId(1)


def build_command(**changes) -> ShellCommand:
    known = {"pane": PANE, "epoch": EpochId(1), "started_at": NOON, "start": 5, "first_line": 2}
    return ShellCommand(**(known | changes))


@pytest.mark.parametrize(
    ("command", "seconds", "shown"),
    [
        (build_command(), 60.0, "running"),
        (build_command(status="lost", end=9, last_line=3), None, "lost"),
        (build_command(status="finished", ended_at=NOON + NS // 4, exit_code=2), 0.25, "2"),
        (build_command(status="finished", ended_at=NOON), 0.0, "?"),
        (build_command(status="finished", ended_at=NOON - NS, exit_code=0), 0.0, "0"),
    ],
)
def test_how_long_it_ran_and_how_it_ended(command: ShellCommand, seconds: float | None, shown: str) -> None:
    told = build_command_facts(command, NOON + 60 * NS)
    assert (told.seconds, format_exit_code(told)) == (seconds, shown)


def test_secrets_are_taken_out_once_more() -> None:
    key = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    told = build_command_facts(build_command(line=f"login {key}", cwd=f"/{key}"), NOON)
    assert key not in str(told)


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.04, "0.0s"), (9.96, "10.0s"), (10.0, "10s"), (120, "2m"), (None, "-")]
)
def test_short_times_have_tenths(seconds: float | None, shown: str) -> None:
    assert format_duration(seconds) == shown


async def test_a_command_is_named_by_its_number_or_as_the_last() -> None:
    services = FakeServices()
    services.add_pane(build_shell_facts())
    first, second = services.start_command(PANE, "a"), services.start_command(PANE, "b")
    assert [await resolve_command(services, PANE, which) for which in ("1", "2", "last")] == [first, second, second]


@pytest.mark.parametrize("which", ["3", "0", "9" * 30])
async def test_a_command_that_is_not_known_is_not_found(which: str) -> None:
    with pytest.raises(CommandNotFound):
        await resolve_command(FakeServices(), PANE, which)


@pytest.mark.parametrize("which", ["", "first", "-1", "1.5", "²"])
async def test_an_invalid_command_reference_is_rejected(which: str) -> None:
    with pytest.raises(BadRequest):
        await resolve_command(FakeServices(), PANE, which)
