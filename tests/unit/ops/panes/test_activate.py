from termvisor.model.action.action import Activate
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_activate_selects_the_pane() -> None:
    services = await build_sample_services()
    assert (await run_command(services, "activate", "2")).out == "pane 2 is now active\n"
    assert services.gate.executed[0][0] == Activate(pane=2)
