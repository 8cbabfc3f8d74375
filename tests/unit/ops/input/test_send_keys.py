from termvisor.model.action.action import SendKeys
from termvisor.testing.asking import ask, lively


async def test_keys_are_pressed_one_by_one_as_they_are_named() -> None:
    world = await lively()
    assert (await ask(world, "send-keys", "1", "C-c", "Up", "Enter")).out == "pressed\n"
    assert world.door.done[0][0] == SendKeys(pane=1, keys=("C-c", "Up", "Enter"))


async def test_no_keys_are_a_mistake() -> None:
    world = await lively()
    assert (await ask(world, "send-keys", "1")).status == 2
    assert world.door.done == []
