from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_each_operation_is_told_when_it_is_done() -> None:
    items = (await run_command(await build_sample_services(), "robot", "db", "prune")).items
    assert [(item["operation"], item["rows"], item["is_done"]) for item in items] == [("delete_raw", 2, True)]
    assert not items[0]["is_foretold"]


async def test_a_dry_run_says_what_would_be_done() -> None:
    answered = await run_command(await build_sample_services(), "db", "prune", "--dry-run")
    assert answered.out == "delete_raw    would: foretold, 16.0 MB\n"
