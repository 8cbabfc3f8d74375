"""Refusals by people, other programs and transient reasons; uncertain results."""

import pytest

from termvisor.errors import Conflict, MuxError, NotDone
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.builtin import safe_actions
from termvisor.workflows.calls import SendTextRequest
from termvisor.workflows.results import ActionStepResult
from termvisor.workflows.workflow import Workflow
from tests.unit.workflows.engine.test_engine import build_manual_run
from tests.unit.workflows.running_engine import run_engine, wait_until_ended


async def observe_pane(context) -> None:
    await context.note("looked")


async def run_action(context) -> str:
    return (await safe_actions.act_safely(context, SendTextRequest(text="hello"), observe_pane)).status


async def run_with(*errors):
    scene = WorkflowScene(Workflow(name="refresh", summary="", run=run_action))
    scene.gate.errors = list(errors)
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        return await wait_until_ended(scene), scene


async def test_a_transient_refusal_is_checked_and_retried():
    run, scene = await run_with(MuxError("busy"), MuxError("busy"))
    assert (run.status, len(scene.gate.executed)) == ("completed", 1)
    assert [step.kind for step in scene.runs.steps_by_run[1].values()].count("note") == 3


@pytest.mark.parametrize(
    ("why", "status", "words"),
    [
        ("human_typing", "cancelled", "a person uses the pane"),
        ("unknown_screen", "cancelled", "another program has the screen"),
        ("dialog_open", "failed", "it was refused"),
    ],
)
async def test_a_permanent_refusal_ends_the_run_at_once(why, status, words):
    run, scene = await run_with(Conflict("it was refused", details={"why": why}))
    assert (run.status, scene.gate.executed) == (status, [])
    assert words in run.why


async def test_too_many_transient_refusals_fail():
    run, scene = await run_with(*(MuxError("busy") for _ in range(4)))
    assert (run.status, run.why, scene.gate.executed) == ("failed", "busy", [])


@pytest.mark.parametrize("status", ["unknown", "typed_not_submitted"])
def test_an_uncertain_result_is_an_error(status):
    with pytest.raises(NotDone, match="not known whether it was taken"):
        ActionStepResult(status=status, why="not_seen", text="it was never seen").require_certain()


def test_a_delivered_result_is_certain():
    ActionStepResult(status="delivered").require_certain()
