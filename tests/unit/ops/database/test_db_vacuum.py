from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_freed_bytes_are_reported() -> None:
    assert (
        await run_command(await build_sample_services(), "db", "vacuum")
    ).out == "delete_raw    2 segments of 1 pane, 16.0 MB  0.2 s\n"
