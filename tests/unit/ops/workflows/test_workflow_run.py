from msgspec.structs import replace

from termvisor.errors import Refused
from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_it_passes_the_gate_and_begins() -> None:
    world = await build_sample_services()
    data = (await run_command(world, "robot", "workflow", "run", "nightly", "1")).envelope["data"]
    assert (data["run"]["workflow"], data["run"]["origin"]) == ("nightly", "person")
    assert world.gate.executed[-1][0].workflow == "nightly"


async def test_what_the_policy_denies_does_not_begin() -> None:
    world = await build_sample_services()
    world.gate.error = Refused("no")
    answered = await run_command(world, "robot", "workflow", "run", "nightly", "1")
    assert answered.status == 77
    assert len(world.workflows.stored_runs) == 3


async def test_without_its_event_it_begins_only_by_force() -> None:
    world = await build_sample_services()
    assert (await run_command(world, "robot", "workflow", "run", "handle_compaction", "1")).status == 75
    assert (await run_command(world, "workflow", "run", "handle_compaction", "1", "--force")).out.startswith("run 4")


async def test_a_dry_run_shows_the_verdicts_and_starts_nothing() -> None:
    world = await build_sample_services()
    data = (await run_command(world, "robot", "workflow", "run", "nightly", "1", "--dry-run")).envelope["data"]
    assert [step["verdict"] for step in data["rehearsal"]["steps"]] == [None, "ask"]
    assert (data["run"], len(world.workflows.stored_runs), world.gate.executed) == (None, 3, [])
    assert "nothing was done" in (await run_command(world, "workflow", "run", "nightly", "1", "--dry-run")).out


async def test_nobody_is_asked_about_a_workflow_that_there_is_not_or_that_is_off() -> None:
    world = await build_sample_services()
    answered = await run_command(world, "robot", "workflow", "run", "nightli", "1", "--force")
    assert (answered.status, answered.envelope["hint"]) == (4, "Did you mean nightly?")
    world.workflows.workflow_infos[1] = replace(world.workflows.workflow_infos[1], mode="off")
    answered = await run_command(world, "robot", "workflow", "run", "nightly", "1", "--force")
    assert (answered.status, answered.envelope["error"]["message"]) == (77, "nightly is off")
    assert world.gate.executed == []
