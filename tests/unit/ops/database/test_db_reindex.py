from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_each_step_is_reported() -> None:
    assert (
        await run_command(await build_sample_services(), "db", "reindex")
    ).out == "delete_raw    rebuilt, 16.0 MB  0.2 s\n"
