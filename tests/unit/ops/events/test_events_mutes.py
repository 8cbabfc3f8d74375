from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_what_is_muted_is_listed_with_its_end() -> None:
    told = (await run_command(await build_sample_services(op="events_mutes"), "events", "mutes")).out
    assert told.splitlines()[1].split() == ["1", "usage.warning", "all", "2026-01-01T13:01:15.000Z", "person:1000"]


async def test_where_nothing_is_muted_that_is_said() -> None:
    assert (await run_command(await build_sample_services(), "events", "mutes")).out == "Nothing is muted.\n"
