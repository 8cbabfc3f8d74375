from termvisor.diagnostics.checks.history_limit import HistoryLimitCheck
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from tests.unit.diagnostics.checks.conftest import FakeCheckContext


async def test_long_histories_are_fine(context: FakeCheckContext, world: FakeServices) -> None:
    world.add_pane(build_shell_facts(history_limit=50_000))
    assert (await HistoryLimitCheck().run(context)).status == "ok"


async def test_short_ones_are_counted_with_the_line_that_mends_it(
    context: FakeCheckContext, world: FakeServices
) -> None:
    world.add_pane(build_shell_facts(history_limit=50_000))
    world.add_pane(build_shell_facts("%2", history_limit=2000))
    world.add_pane(build_shell_facts("%3", history_limit=49_999))
    finding = await HistoryLimitCheck().run(context)
    assert (finding.status, "2 of 3 panes" in finding.message, "2,000" in finding.message) == ("warn", True, True)
    assert "set -g history-limit 50000" in finding.hint


async def test_a_pane_that_does_not_tell_is_not_counted(context: FakeCheckContext, world: FakeServices) -> None:
    world.add_pane(build_shell_facts(history_limit=0))
    assert (await HistoryLimitCheck().run(context)).status == "skip"
