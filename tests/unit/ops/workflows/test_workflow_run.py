from msgspec.structs import replace

from termvisor.errors import Refused
from termvisor.testing.asking import ask, lively


async def test_it_passes_the_gate_and_begins() -> None:
    world = await lively()
    data = (await ask(world, "robot", "workflow", "run", "nightly", "1")).envelope["data"]
    assert (data["run"]["workflow"], data["run"]["origin"]) == ("nightly", "person")
    assert world.door.done[-1][0].workflow == "nightly"


async def test_what_the_policy_denies_does_not_begin() -> None:
    world = await lively()
    world.door.error = Refused("no")
    answered = await ask(world, "robot", "workflow", "run", "nightly", "1")
    assert answered.status == 77
    assert len(world.runs.kept) == 3


async def test_without_its_event_it_begins_only_by_force() -> None:
    world = await lively()
    assert (await ask(world, "robot", "workflow", "run", "handle_compaction", "1")).status == 75
    assert (await ask(world, "workflow", "run", "handle_compaction", "1", "--force")).out.startswith("run 4")


async def test_a_dry_run_shows_the_verdicts_and_starts_nothing() -> None:
    world = await lively()
    data = (await ask(world, "robot", "workflow", "run", "nightly", "1", "--dry-run")).envelope["data"]
    assert [step["verdict"] for step in data["rehearsal"]["steps"]] == [None, "ask"]
    assert (data["run"], len(world.runs.kept), world.door.done) == (None, 3, [])
    assert "nothing was done" in (await ask(world, "workflow", "run", "nightly", "1", "--dry-run")).out


async def test_nobody_is_asked_about_a_workflow_that_there_is_not_or_that_is_off() -> None:
    world = await lively()
    answered = await ask(world, "robot", "workflow", "run", "nightli", "1", "--force")
    assert (answered.status, answered.envelope["hint"]) == (4, "Did you mean nightly?")
    world.runs.known[1] = replace(world.runs.known[1], mode="off")
    answered = await ask(world, "robot", "workflow", "run", "nightly", "1", "--force")
    assert (answered.status, answered.envelope["error"]["message"]) == (77, "nightly is off")
    assert world.door.done == []
