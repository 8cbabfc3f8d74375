from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_reservations_are_listed_with_owner_and_remaining_time() -> None:
    assert "alice" in (await run_command(await build_sample_services(), "reservations")).out
    assert (await run_command(FakeServices(), "reservations")).out == "No reservations.\n"
