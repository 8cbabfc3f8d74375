from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_each_operation_is_reported_when_it_is_done() -> None:
    items = (await run_command(await build_sample_services(), "robot", "db", "prune")).items
    assert [(item["operation"], item["rows"], item["is_done"]) for item in items] == [("delete_raw", 2, True)]
    assert not items[0]["is_foretold"]


async def test_a_dry_run_reports_what_would_be_deleted() -> None:
    result = await run_command(await build_sample_services(), "db", "prune", "--dry-run")
    assert result.out == "delete_raw    would: preview, 16.0 MB\n"
