from msgspec.structs import replace

from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_a_file_that_is_wrong_is_told_with_its_line_and_the_others_are_listed() -> None:
    data = (await run_command(await build_sample_services(), "robot", "workflow", "list")).envelope["data"]
    assert [item["name"] for item in data["items"]] == ["handle_compaction", "nightly"]
    assert data["summary"] == {"workflows": 2, "by_mode": {"ask": 1, "on": 1}, "broken": 1}
    assert data["broken"][0]["why"].endswith("broken.yaml:3: there is no step 'sned'; did you mean send?")


async def test_without_any_that_is_said() -> None:
    world = await build_sample_services()
    world.workflows.workflow_infos.clear()
    assert "There are no workflows." in (await run_command(world, "workflow", "list")).out


async def test_what_a_file_speaks_of_and_nobody_knows_is_told() -> None:
    world = await build_sample_services()
    world.workflows.workflow_infos[1] = replace(
        world.workflows.workflow_infos[1], doubts=("w.yaml:2: nobody knows the agent 'claude'",)
    )
    told = (await run_command(world, "workflow", "list")).out
    assert "in doubt: w.yaml:2: nobody knows the agent 'claude'" in told
    assert "2 workflows, 1 left out" in told
