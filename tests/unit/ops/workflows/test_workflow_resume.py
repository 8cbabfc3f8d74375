from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_a_run_is_resumed() -> None:
    services = await build_sample_services()
    assert (await run_command(services, "-q", "workflow", "resume", "3")).out == "3\n"
    assert services.workflows.received_changes[-1].kind == "resume"
