from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_a_signal_is_sent_with_its_value() -> None:
    services = await build_sample_services()
    await run_command(services, "robot", "workflow", "signal", "3", "deployed", "--value", "v2")
    assert (services.workflows.received_changes[-1].word, services.workflows.received_changes[-1].value) == (
        "deployed",
        "v2",
    )


async def test_reserved_signals_are_rejected() -> None:
    result = await run_command(await build_sample_services(), "robot", "workflow", "signal", "3", "cancel")
    assert (result.status, result.envelope["error"]["code"]) == (2, "invalid_args")
