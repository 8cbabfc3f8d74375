from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_mutes_are_listed_with_their_end() -> None:
    result = (await run_command(await build_sample_services(op="events_mutes"), "events", "mutes")).out
    assert result.splitlines()[1].split() == ["1", "usage.warning", "all", "2026-01-01T13:01:15.000Z", "person:1000"]


async def test_without_mutes_it_is_reported() -> None:
    assert (await run_command(await build_sample_services(), "events", "mutes")).out == "Nothing is muted.\n"
