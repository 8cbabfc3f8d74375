"""What stands against an act says who has the pane."""

import pytest

from termvisor.errors import Conflict, MuxError, NotDone
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.builtin import safe_actions
from termvisor.workflows.calls import ActionStepResult, SendTextRequest
from termvisor.workflows.workflow import Workflow
from tests.unit.workflows.engine.test_engine import asked_for
from tests.unit.workflows.running_engine import run_engine, wait_until_ended


async def looks(context) -> None:
    await context.note("looked")


async def acts(context) -> str:
    return (await safe_actions.act_safely(context, SendTextRequest(text="hello"), looks)).status


async def run_with(*errors):
    scene = WorkflowScene(Workflow(name="refresh", summary="", run=acts))
    scene.gate.errors = list(errors)
    async with run_engine(scene) as engine:
        await engine.start_run(asked_for(scene))
        return await wait_until_ended(scene), scene


async def test_what_passes_is_tried_again_and_looked_at_again():
    run, scene = await run_with(MuxError("busy"), MuxError("busy"))
    assert (run.status, len(scene.gate.executed)) == ("completed", 1)
    assert [step.kind for step in scene.runs.steps_by_run[1].values()].count("note") == 3


@pytest.mark.parametrize(
    ("why", "status", "words"),
    [
        ("human_typing", "cancelled", "a person has the pane"),
        ("unknown_screen", "cancelled", "another program has the screen"),
        ("dialog_open", "failed", "it was refused"),
    ],
)
async def test_what_does_not_pass_ends_it_at_once(why, status, words):
    run, scene = await run_with(Conflict("it was refused", details={"why": why}))
    assert (run.status, scene.gate.executed) == (status, [])
    assert words in run.why


async def test_what_does_not_pass_in_time_fails():
    run, scene = await run_with(*(MuxError("busy") for _ in range(4)))
    assert (run.status, run.why, scene.gate.executed) == ("failed", "busy", [])


@pytest.mark.parametrize("status", ["unknown", "typed_not_submitted"])
def test_a_text_of_which_nothing_is_known_is_no_ground_to_build_on(status):
    with pytest.raises(NotDone, match="not known whether it was taken"):
        safe_actions.require_certain(ActionStepResult(status=status, why="not_seen", text="it was never seen"))


def test_a_text_that_arrived_is():
    safe_actions.require_certain(ActionStepResult(status="delivered"))
