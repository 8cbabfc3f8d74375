"""One stretch of a run: its end is a step, its cleanup is done once."""

from termvisor.errors import StorageError
from termvisor.model.run import RunId
from termvisor.testing.runs import Scene
from termvisor.workflow.base import Workflow
from termvisor.workflow.call import WaitFor
from termvisor.workflow.replay import END
from tests.unit.workflow.living import ended, living, pass_time
from tests.unit.workflow.test_engine import asked_for


async def test_a_run_that_diverges_fails_and_names_the_step_and_does_nothing():
    async def one(context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=600))

    async def other(context) -> None:
        try:
            await context.send("hello")
        except Exception:
            await context.keys("C-c")

    scene = Scene(Workflow(name="refresh", summary="", run=one))
    async with living(scene) as engine:
        await engine.begin(asked_for(scene))
        await pass_time(scene)
    scene.shelf = Scene(Workflow(name="refresh", summary="", run=other)).shelf
    async with living(scene):
        run = await ended(scene)
    assert run.status == "failed"
    assert run.why.startswith("step 0 was wait_for signal")
    assert scene.hands.done == []


async def test_what_cannot_be_stored_is_lived_again_later():
    async def work(context) -> str:
        await context.send("hello")
        return "done"

    scene = Scene(Workflow(name="refresh", summary="", run=work))
    real, full = scene.runs.put, [StorageError("disk full")] * 2

    async def put(run, step) -> None:
        if full:
            raise full.pop()
        await real(run, step)

    scene.runs.put = put
    async with living(scene) as engine:
        await engine.begin(asked_for(scene))
        run = await ended(scene)
    assert run.status == "completed"
    assert len(scene.hands.done) == 1


async def test_a_cleanup_that_fails_changes_no_end_and_work_that_ended_is_not_done_again():
    worked = []

    async def work(context) -> str:
        worked.append(1)
        await context.note("x")
        return "done"

    async def cleanup(context) -> None:
        await context.keys("C-l")
        raise KeyError("mine")

    scene = Scene(Workflow(name="refresh", summary="", run=work, cleanup=cleanup))
    async with living(scene) as engine:
        await engine.begin(asked_for(scene))
        run = await ended(scene)
    assert (run.status, worked) == ("completed", [1])
    assert [step.kind for step in await scene.runs.steps(RunId(1))] == ["note", END, "act"]


async def test_a_run_has_so_much_time_for_its_work():
    async def slow(context) -> None:
        for _ in range(9):
            await context.wait_for(WaitFor(quiet=8.0, timeout=60))
            scene.world.say(scene.pane, "x")

    scene = Scene(Workflow(name="refresh", summary="", run=slow, timeout=30.0))
    scene.world.say(scene.pane, "x")
    async with living(scene) as engine:
        await engine.begin(asked_for(scene))
        run = await ended(scene)
    assert run.status == "failed"
    assert "longer than it may" in run.why
