from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_what_was_given_back_is_told() -> None:
    assert (
        await run_command(await build_sample_services(), "db", "vacuum")
    ).out == "delete_raw    2 segments of 1 pane, 16.0 MB  0.2 s\n"
