from termvisor.diagnostics.checks.shell_marks import MarksAreHeard
from termvisor.model.terminal.pane import Activity
from termvisor.testing.world import MemoryWorld, shell
from tests.unit.diagnostics.checks.conftest import MemorySight


async def test_one_shell_with_marks_is_enough(sight: MemorySight, world: MemoryWorld) -> None:
    world.pane(shell("%1"))
    world.change(world.pane(shell("%2")).id, activity=Activity(kind="prompt", is_proven=True))
    finding = await MarksAreHeard().look(sight)
    assert (finding.status, finding.message) == ("ok", "1 of 2 panes send marks, 1 of them proven")


async def test_silent_shells_are_a_warning(sight: MemorySight, world: MemoryWorld) -> None:
    world.pane(shell("%1"))
    finding = await MarksAreHeard().look(sight)
    assert (finding.status, "visor setup shell" in finding.hint) == ("warn", True)


async def test_without_panes_there_is_nothing_to_hear(sight: MemorySight) -> None:
    assert (await MarksAreHeard().look(sight)).status == "skip"
