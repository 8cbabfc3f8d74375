from termvisor.model.action.action import SendKeys
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_keys_are_sent_one_by_one_by_name() -> None:
    services = await build_sample_services()
    assert (await run_command(services, "send-keys", "1", "C-c", "Up", "Enter")).out == "keys sent\n"
    assert services.gate.executed[0][0] == SendKeys(pane=1, keys=("C-c", "Up", "Enter"))


async def test_send_keys_without_keys_is_an_error() -> None:
    services = await build_sample_services()
    assert (await run_command(services, "send-keys", "1")).status == 2
    assert services.gate.executed == []
