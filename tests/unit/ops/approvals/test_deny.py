from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_a_deny_closes_the_request() -> None:
    services = await build_sample_services()
    assert "request 1 denied" in (await run_command(services, "deny", "1")).out
    assert await services.gate.approvals.list() == []


async def test_a_request_may_be_closed_as_edited() -> None:
    assert "request 1 edited" in (await run_command(await build_sample_services(), "deny", "1", "--edited")).out
