from termvisor.errors import Refused
from termvisor.model.action.action import Attach
from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_it_is_judged_and_says_how_to_get_there() -> None:
    world = await build_sample_services()
    data = (await run_command(world, "robot", "attach", "2")).envelope["data"]
    assert world.gate.executed[0][0] == Attach(pane=2)
    tmux = ["tmux", "-S", "/run/tmux/default"]
    assert data["outside"] == [*tmux, "attach-session", "-t", "$1:@2.%4"]
    assert data["inside"] == [*tmux, "switch-client", "-t", "$1:@2.%4"]


async def test_who_may_not_look_is_not_told_how() -> None:
    world = await build_sample_services()
    world.gate.error = Refused("the policy says no")
    answered = await run_command(world, "attach", "2")
    assert (answered.status, answered.out) == (77, "")
