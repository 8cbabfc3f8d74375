from termvisor.diagnostics.checks.recorder import RecorderIsAlive
from termvisor.testing.world import MemoryWorld
from tests.unit.diagnostics.checks.conftest import MemorySight


async def test_a_living_recorder_is_fine(sight: MemorySight) -> None:
    assert (await RecorderIsAlive().look(sight)).message == "process 4243 records"


async def test_a_lost_recorder_fails(sight: MemorySight, world: MemoryWorld) -> None:
    world.upkeep.is_recording = False
    finding = await RecorderIsAlive().look(sight)
    assert (finding.status, bool(finding.hint)) == ("fail", True)


async def test_without_a_daemon_it_says_how_to_start_one(lonely: MemorySight) -> None:
    finding = await RecorderIsAlive().look(lonely)
    assert (finding.status, finding.hint) == ("skip", "`visor up` starts it.")
