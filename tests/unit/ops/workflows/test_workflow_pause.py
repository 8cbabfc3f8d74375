from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_a_run_is_paused() -> None:
    services = await build_sample_services()
    assert "is paused" in (await run_command(services, "workflow", "pause", "3", "--why", "mine")).out
    assert (services.workflows.received_changes[-1].kind, services.workflows.received_changes[-1].word) == (
        "pause",
        "mine",
    )
