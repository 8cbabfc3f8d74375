from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_a_permit_is_revoked_once() -> None:
    services = await build_sample_services()
    assert (await run_command(services, "revoke-permit", "1")).out == "permit 1 revoked\n"
    assert (await run_command(services, "revoke-permit", "1")).status == 2
