import asyncio

from msgspec.structs import replace

from termvisor.errors import Refused
from termvisor.model.workflow import RunFilter, RunId, RunStep
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_a_run_passes_the_gate_and_starts() -> None:
    services = await build_sample_services()
    data = (await run_command(services, "robot", "workflow", "run", "nightly", "1")).envelope["data"]
    assert (data["run"]["workflow"], data["run"]["origin"]) == ("nightly", "person")
    assert services.gate.executed[-1][0].workflow == "nightly"


async def test_a_run_is_awaited_and_the_answer_says_what_happened_what_changed_and_what_next() -> None:
    services = await build_sample_services()
    argv = ("robot", "workflow", "run", "nightly", "1", "--wait", "60")
    async with asyncio.TaskGroup() as group:
        call = group.create_task(run_command(services, *argv))
        await services.clock.wait_until_asleep()
        run, _ = await services.workflows.get_run(RunId(4))
        sent = RunStep(number=0, kind="act", name="send", given='{"text":"make"}', status="completed", at=run.at)
        services.workflows.end_run(replace(run, status="failed", why="no prompt", ended_at=run.at), sent)
        await services.clock.advance(0.1)
    answer = call.result().envelope
    assert answer["data"]["happened"] == "run 4 (nightly in pane 1) is failed: no prompt"
    assert answer["data"]["changed"] == ["step 0, send: text: make"]
    assert answer["hint"] == "`visor robot workflow history 4` shows the failed step."


async def test_a_run_that_goes_on_is_reported_after_the_wait() -> None:
    services = await build_sample_services()
    async with asyncio.TaskGroup() as group:
        call = group.create_task(run_command(services, "robot", "workflow", "run", "nightly", "1", "--wait", "0.1"))
        await services.clock.wait_until_asleep()
        await services.clock.advance(0.2)
    assert call.result().envelope["data"]["happened"] == "run 4 (nightly in pane 1) is running"
    assert call.result().envelope["hint"] == "`visor robot workflow history 4` shows how far it is."


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
