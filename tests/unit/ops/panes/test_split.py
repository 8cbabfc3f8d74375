from termvisor.model.action.action import Spawn
from termvisor.testing.asking import ask, lively


async def test_a_pane_is_split_and_a_program_starts_beside_it() -> None:
    world = await lively()
    await ask(world, "split", "1", "--horizontal", "--", "htop", "-d", "5")
    wanted = Spawn(where="pane", beside=1, is_horizontal=True, command=("htop", "-d", "5"))
    assert world.door.done[0][0] == wanted
