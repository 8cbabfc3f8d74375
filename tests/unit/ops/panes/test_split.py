from termvisor.model.action.action import Spawn
from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_a_pane_is_split_and_a_program_starts_beside_it() -> None:
    world = await build_sample_services()
    await run_command(world, "split", "1", "--horizontal", "--", "htop", "-d", "5")
    wanted = Spawn(where="pane", beside=1, is_horizontal=True, command=("htop", "-d", "5"))
    assert world.gate.executed[0][0] == wanted
