from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_each_step_is_told() -> None:
    assert (
        await run_command(await build_sample_services(), "db", "reindex")
    ).out == "delete_raw    made anew, 16.0 MB  0.2 s\n"
