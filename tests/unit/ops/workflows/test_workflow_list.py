from msgspec.structs import replace

from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_an_invalid_file_is_reported_with_its_line_and_others_are_listed() -> None:
    data = (await run_command(await build_sample_services(), "robot", "workflow", "list")).envelope["data"]
    assert [item["name"] for item in data["items"]] == ["handle_compaction", "nightly"]
    assert data["summary"] == {"workflows": 2, "by_mode": {"ask": 1, "on": 1}, "broken": 1}
    assert data["broken"][0]["why"].endswith("broken.yaml:3: there is no step 'sned'; did you mean send?")


async def test_without_workflows_it_is_reported() -> None:
    services = await build_sample_services()
    services.workflows.workflow_infos.clear()
    assert "No workflows." in (await run_command(services, "workflow", "list")).out


async def test_unknown_names_in_a_workflow_file_are_warnings() -> None:
    services = await build_sample_services()
    services.workflows.workflow_infos[1] = replace(
        services.workflows.workflow_infos[1], doubts=("w.yaml:2: unknown agent 'claude'",)
    )
    result = (await run_command(services, "workflow", "list")).out
    assert "warning: w.yaml:2: unknown agent 'claude'" in result
    assert "2 workflows, 1 invalid file" in result
