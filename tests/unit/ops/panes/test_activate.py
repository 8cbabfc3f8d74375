from termvisor.model.action.action import Activate
from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_a_pane_is_brought_to_the_front() -> None:
    world = await build_sample_services()
    assert (await run_command(world, "activate", "2")).out == "pane 2 is in front\n"
    assert world.gate.executed[0][0] == Activate(pane=2)
