from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_who_holds_what_and_for_how_long() -> None:
    assert "alice" in (await run_command(await build_sample_services(), "reservations")).out
    assert (await run_command(FakeServices(), "reservations")).out == "No pane is reserved.\n"
