from msgspec.structs import replace

from termvisor.errors import Refused
from termvisor.model.workflow import RunFilter
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_a_run_passes_the_gate_and_starts() -> None:
    services = await build_sample_services()
    data = (await run_command(services, "robot", "workflow", "run", "nightly", "1")).envelope["data"]
    assert (data["run"]["workflow"], data["run"]["origin"]) == ("nightly", "person")
    assert services.gate.executed[-1][0].workflow == "nightly"


async def test_a_denied_workflow_does_not_start() -> None:
    services = await build_sample_services()
    services.gate.error = Refused("no")
    result = await run_command(services, "robot", "workflow", "run", "nightly", "1")
    assert result.status == 77
    assert len(await services.workflows.list_runs(RunFilter())) == 3


async def test_without_an_event_a_run_needs_force() -> None:
    services = await build_sample_services()
    assert (await run_command(services, "robot", "workflow", "run", "handle_compaction", "1")).status == 75
    assert (await run_command(services, "workflow", "run", "handle_compaction", "1", "--force")).out.startswith("run 4")


async def test_a_dry_run_shows_the_verdicts_and_starts_nothing() -> None:
    services = await build_sample_services()
    data = (await run_command(services, "robot", "workflow", "run", "nightly", "1", "--dry-run")).envelope["data"]
    assert [step["verdict"] for step in data["rehearsal"]["steps"]] == [None, "ask"]
    assert (data["run"], len(await services.workflows.list_runs(RunFilter())), services.gate.executed) == (None, 3, [])
    assert "nothing was done" in (await run_command(services, "workflow", "run", "nightly", "1", "--dry-run")).out


async def test_an_unknown_or_disabled_workflow_creates_no_request() -> None:
    services = await build_sample_services()
    result = await run_command(services, "robot", "workflow", "run", "nightli", "1", "--force")
    assert (result.status, result.envelope["hint"]) == (4, "Did you mean nightly?")
    services.workflows.workflow_infos[1] = replace(services.workflows.workflow_infos[1], mode="off")
    result = await run_command(services, "robot", "workflow", "run", "nightly", "1", "--force")
    assert (result.status, result.envelope["error"]["message"]) == (77, "workflow nightly is off")
    assert services.gate.executed == []
