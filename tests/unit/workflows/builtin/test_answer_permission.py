"""A permission dialog is answered by policy or person, with keys that fit it."""

import pytest

from termvisor.errors import Conflict, NeedsApproval, Refused
from termvisor.model.action.action import AnswerDialog, Notify
from termvisor.model.action.outcome import Outcome
from termvisor.model.ids import RuntimeId
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.builtin.answer_permission import WORKFLOW
from tests.unit.workflows.running_engine import run_engine, wait_until_ended

RUNTIME = RuntimeId(4)


def build_scene(state: str = "waiting_approval") -> WorkflowScene:
    scene = WorkflowScene(WORKFLOW)
    scene.pane_observer.change_pane(scene.pane, agent="opencode", runtime=RUNTIME, state=state)

    def apply_action(action) -> None:
        if isinstance(action, AnswerDialog):
            scene.pane_observer.change_pane(scene.pane, state="running")

    scene.gate.after_action = apply_action
    return scene


async def run_workflow(scene: WorkflowScene):
    async with run_engine(scene):
        scene.add_detection("agent.unanswered", runtime=RUNTIME, agent="opencode", source="signal")
        return await wait_until_ended(scene)


def list_choices(scene: WorkflowScene) -> list[str]:
    return [one.choice for one in scene.gate.executed if isinstance(one, AnswerDialog)]


async def test_an_allowed_dialog_is_answered_once_with_approval_in_mode_ask():
    scene = build_scene()
    scene.modes.modes["answer_permission"] = "ask"
    run = await run_workflow(scene)
    assert (run.why, list_choices(scene)) == ("allowed once; opencode is running", ["allow"])
    assert scene.gate.received_preconditions[0].asks


@pytest.mark.parametrize("error", [Refused("no", details={"why": "denied"}), Refused("the policy says no")])
async def test_a_denial_is_answered_in_the_dialog(error):
    scene = build_scene()
    scene.gate.errors = [error]
    run = await run_workflow(scene)
    assert (run.why.startswith("denied"), list_choices(scene)) == (True, ["deny"])


@pytest.mark.parametrize(
    "error",
    [
        NeedsApproval("no answer in time"),
        Conflict("another dialog is shown", details={"why": "dialog_changed"}),
        Conflict("no keys for that", details={"why": "no_such_choice"}),
    ],
)
async def test_without_a_decision_the_dialog_stays_open_and_a_person_is_notified(error):
    scene = build_scene()
    scene.gate.errors = [error]
    run = await run_workflow(scene)
    assert (list_choices(scene), "not answered" in run.why) == ([], True)
    assert isinstance(scene.gate.executed[0], Notify)


async def test_an_agent_that_no_longer_waits_gets_no_keys():
    scene = build_scene("running")
    run = await run_workflow(scene)
    assert (run.status, scene.gate.executed) == ("cancelled", [])


async def test_a_late_denial_presses_no_keys():
    scene = build_scene()
    real = scene.gate.run

    async def run_action(action, actor, preconditions):
        scene.pane_observer.change_pane(scene.pane, state="running")
        return await real(action, actor, preconditions)

    scene.gate.run, scene.gate.errors = run_action, [Refused("no", details={"why": "denied"})]
    run = await run_workflow(scene)
    assert (run.why, scene.gate.executed) == ("it was answered at the pane", [])


@pytest.mark.parametrize("errors", [[], [Refused("no", details={"why": "denied"})]])
async def test_an_uncertain_key_press_fails_the_run(errors):
    scene = build_scene()
    scene.gate.errors, scene.gate.outcome = errors, Outcome(status="unknown", why="interrupted")
    run = await run_workflow(scene)
    assert (run.status, len(list_choices(scene))) == ("failed", 1)
    assert "not known whether it was taken" in run.why
    notification = scene.gate.executed[-1]
    assert isinstance(notification, Notify)
    assert notification.text.startswith("Perhaps it is answered")


@pytest.mark.parametrize(
    ("errors", "choices"),
    [
        ([Conflict("another dialog", details={"why": "dialog_changed"})], []),
        ([Refused("no", details={"why": "denied"}), Conflict("another dialog", details={"why": "dialog_changed"})], []),
        ([Refused("expired", details={"why": "expired"})], []),
    ],
)
async def test_a_choice_that_is_not_taken_leaves_the_dialog_open(errors, choices):
    scene = build_scene()
    message = errors[-1].message
    scene.gate.errors = errors
    run = await run_workflow(scene)
    assert (run.status, run.why, list_choices(scene)) == ("completed", f"not answered: {message}", choices)
    assert [one.text for one in scene.gate.executed] == [
        f"Its dialog stands: {message}. `visor attach {scene.pane}` shows it."
    ]


async def test_the_dialog_of_another_agent_gets_no_denial():
    scene = build_scene()
    real = scene.gate.run

    async def run_action(action, actor, preconditions):
        scene.pane_observer.change_pane(scene.pane, runtime=RuntimeId(5))
        return await real(action, actor, preconditions)

    scene.gate.run, scene.gate.errors = run_action, [Refused("no", details={"why": "denied"})]
    run = await run_workflow(scene)
    assert (run.why, scene.gate.executed) == ("it was answered at the pane", [])
