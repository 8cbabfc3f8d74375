from termvisor.diagnostics.checks.history_limit import HistoryLimitCheck
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from tests.unit.diagnostics.checks.conftest import FakeCheckContext


async def test_long_histories_are_fine(context: FakeCheckContext, services: FakeServices) -> None:
    services.add_pane(build_shell_facts(history_limit=50_000))
    assert (await HistoryLimitCheck().run(context)).status == "ok"


async def test_short_histories_are_a_warning_with_the_line_that_fixes_it(
    context: FakeCheckContext, services: FakeServices
) -> None:
    services.add_pane(build_shell_facts(history_limit=50_000))
    services.add_pane(build_shell_facts("%2", history_limit=2000))
    services.add_pane(build_shell_facts("%3", history_limit=49_999))
    finding = await HistoryLimitCheck().run(context)
    assert (finding.status, "2 of 3 panes" in finding.message, "2,000" in finding.message) == ("warn", True, True)
    assert "set -g history-limit 50000" in finding.hint


async def test_a_pane_without_a_known_limit_is_not_counted(context: FakeCheckContext, services: FakeServices) -> None:
    services.add_pane(build_shell_facts(history_limit=0))
    assert (await HistoryLimitCheck().run(context)).status == "skip"
