from termvisor.errors import Refused
from termvisor.model.action.action import Attach
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_the_commands_are_returned_after_the_policy_check() -> None:
    services = await build_sample_services()
    data = (await run_command(services, "robot", "attach", "2")).envelope["data"]
    assert services.gate.executed[0][0] == Attach(pane=2)
    tmux = ["tmux", "-S", "/run/tmux/default"]
    assert data["outside"] == [*tmux, "attach-session", "-t", "$1:@2.%4"]
    assert data["inside"] == [*tmux, "switch-client", "-t", "$1:@2.%4"]


async def test_a_denied_caller_gets_no_commands() -> None:
    services = await build_sample_services()
    services.gate.error = Refused("the policy says no")
    answered = await run_command(services, "attach", "2")
    assert (answered.status, answered.out) == (77, "")
