from termvisor.diagnostics.checks.shell_marks import ShellMarksCheck
from termvisor.model.terminal.pane import PaneActivity
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from tests.unit.diagnostics.checks.conftest import FakeCheckContext


async def test_one_shell_with_marks_is_enough(context: FakeCheckContext, world: FakeServices) -> None:
    world.add_pane(build_shell_facts("%1"))
    world.change_pane(world.add_pane(build_shell_facts("%2")).id, activity=PaneActivity(kind="prompt", is_proven=True))
    finding = await ShellMarksCheck().run(context)
    assert (finding.status, finding.message) == ("ok", "1 of 2 panes send marks, 1 of them proven")


async def test_silent_shells_are_a_warning(context: FakeCheckContext, world: FakeServices) -> None:
    world.add_pane(build_shell_facts("%1"))
    finding = await ShellMarksCheck().run(context)
    assert (finding.status, "visor setup shell" in finding.hint) == ("warn", True)


async def test_without_panes_there_is_nothing_to_hear(context: FakeCheckContext) -> None:
    assert (await ShellMarksCheck().run(context)).status == "skip"
