from termvisor.diagnostics.checks.shell_marks import ShellMarksCheck
from termvisor.model.terminal.pane import PaneActivity
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from tests.unit.diagnostics.checks.conftest import FakeCheckContext


async def test_one_shell_with_marks_is_enough(context: FakeCheckContext, services: FakeServices) -> None:
    services.add_pane(build_shell_facts("%1"))
    services.change_pane(
        services.add_pane(build_shell_facts("%2")).id, activity=PaneActivity(kind="prompt", is_proven=True)
    )
    finding = await ShellMarksCheck().run(context)
    assert (finding.status, finding.message) == ("ok", "1 of 2 panes send marks, 1 of them proven")


async def test_silent_shells_are_a_warning(context: FakeCheckContext, services: FakeServices) -> None:
    services.add_pane(build_shell_facts("%1"))
    finding = await ShellMarksCheck().run(context)
    assert (finding.status, "visor setup shell" in finding.hint) == ("warn", True)


async def test_without_panes_the_check_is_skipped(context: FakeCheckContext) -> None:
    assert (await ShellMarksCheck().run(context)).status == "skip"
