from termvisor.model.action.action import SendKeys
from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_keys_are_pressed_one_by_one_as_they_are_named() -> None:
    world = await build_sample_services()
    assert (await run_command(world, "send-keys", "1", "C-c", "Up", "Enter")).out == "pressed\n"
    assert world.gate.executed[0][0] == SendKeys(pane=1, keys=("C-c", "Up", "Enter"))


async def test_no_keys_are_a_mistake() -> None:
    world = await build_sample_services()
    assert (await run_command(world, "send-keys", "1")).status == 2
    assert world.gate.executed == []
