from termvisor.model.action.action import Activate
from termvisor.testing.asking import ask, lively


async def test_a_pane_is_brought_to_the_front() -> None:
    world = await lively()
    assert (await ask(world, "activate", "2")).out == "pane 2 is in front\n"
    assert world.door.done[0][0] == Activate(pane=2)
