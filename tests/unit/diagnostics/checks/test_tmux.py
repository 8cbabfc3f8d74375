import pytest

from termvisor.diagnostics.checks.tmux import TmuxVersionCheck, judge_version
from termvisor.settings import Settings
from tests.unit.diagnostics.checks.conftest import FakeCheckContext


async def test_the_real_tmux_is_found(context: FakeCheckContext) -> None:
    finding = await TmuxVersionCheck().run(context)
    assert (finding.status, finding.message.startswith("tmux ")) == ("ok", True)


async def test_a_missing_tmux_fails_with_the_command_that_installs_it(context: FakeCheckContext) -> None:
    context.settings = Settings(tmux_program="/nowhere/tmux")
    finding = await TmuxVersionCheck().run(context)
    assert (finding.status, "apt-get install tmux" in finding.hint) == ("fail", True)


async def test_a_program_that_is_no_tmux_fails(context: FakeCheckContext) -> None:
    context.settings = Settings(tmux_program="false")
    assert (await TmuxVersionCheck().run(context)).message == "false -V failed with exit status 1"


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ("tmux 3.3a", "ok"),
        ("tmux 3.2", "ok"),
        ("tmux next-3.7", "ok"),
        ("tmux 10.0", "ok"),
        ("tmux 3.1c", "fail"),
        ("tmux 2.9", "fail"),
        ("tmux master", "warn"),
    ],
)
def test_versions_are_judged(answer: str, status: str) -> None:
    assert judge_version(answer).status == status
