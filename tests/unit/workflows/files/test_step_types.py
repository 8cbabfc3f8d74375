"""The steps of workflow files, executed by the engine."""

import pytest

from termvisor.errors import NeedsApproval, Refused
from termvisor.model.action.outcome import Outcome
from termvisor.model.ids import PaneId
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.files.loader import WorkflowFileParser
from termvisor.workflows.files.source_file import parse_source
from termvisor.workflows.files.step_types import BranchCondition, is_condition_met
from termvisor.workflows.results import Observation
from tests.unit.workflows.running_engine import run_engine, wait_until_ended


async def run_steps(steps: str, scene: WorkflowScene | None = None, trigger: str = "", **facts):
    """Run the steps and return the ended run and the scene."""
    scene = scene or WorkflowScene()
    head = f"name: mine\nmode: 'on'\n{trigger}"
    scene.registry = WorkflowScene(
        WorkflowFileParser(parse_source("w.yaml", f"{head}steps:\n{steps}")).parse_workflow()
    ).registry
    scene.services.print_lines(scene.pane, "compacted")
    async with run_engine(scene):
        scene.add_detection(captures=facts)
        return await wait_until_ended(scene), scene


EVENT = "trigger: {event: session.compaction}\n"


async def test_steps_are_executed_in_order():
    steps = "  - wait_stable: 2s\n  - send: hello\n  - keys: C-c Enter\n  - notify: 'at {{ when }}'\n  - note: x\n"
    run, scene = await run_steps(steps, trigger=EVENT, when="noon")
    assert (run.status, run.why) == ("completed", "5 steps done")
    text, keys, notice = scene.gate.executed
    assert (text.text, keys.keys, notice.text, notice.title) == ("hello", ("C-c", "Enter"), "at noon", "mine")


async def test_a_run_is_cancelled_when_its_event_is_over():
    scene = WorkflowScene()
    head = "name: mine\nmode: 'on'\ntrigger: {event: session.compaction}\nsteps: [{send: hello}]"
    scene.registry = WorkflowScene(WorkflowFileParser(parse_source("w.yaml", head)).parse_workflow()).registry
    async with run_engine(scene):
        scene.add_detection(context="long gone")
        run = await wait_until_ended(scene)
    assert run.status == "cancelled"
    assert "no longer there" in run.why
    assert scene.gate.executed == []


@pytest.mark.parametrize("step", ["keys: Enter", "run: make"])
async def test_an_uncertain_action_ends_the_run(step):
    scene = WorkflowScene()
    scene.gate.outcome = Outcome(status="unknown", why="interrupted")
    run, _ = await run_steps(f"  - {step}\n  - keys: C-c\n", scene, EVENT)
    assert (run.status, len(scene.gate.executed)) == ("failed", 1)


@pytest.mark.parametrize(("errors", "status"), [([], "completed"), ([Refused("the policy says no")], "failed")])
async def test_a_failed_notification_does_not_stop_the_run(errors, status):
    scene = WorkflowScene()
    scene.gate.errors, scene.gate.outcome = errors, Outcome(status="failed", why="nobody_attached")
    run, _ = await run_steps("  - notify: hello\n  - note: x\n", scene, EVENT)
    assert run.status == status


@pytest.mark.parametrize("status", ["unknown", "typed_not_submitted"])
async def test_an_uncertain_text_ends_the_run(status):
    scene = WorkflowScene()
    scene.gate.outcome = Outcome(status=status)
    run, _ = await run_steps("  - send: hello\n  - keys: C-c\n", scene, EVENT)
    assert (run.status, len(scene.gate.executed)) == ("failed", 1)


@pytest.mark.parametrize(("shown", "done"), [("error: x", ["then"]), ("fine", ["else"])])
async def test_a_branch_depends_on_the_text_in_the_pane(shown, done):
    scene = WorkflowScene()
    scene.services.print_lines(scene.pane, shown)
    steps = "  - branch: {if: {pattern: '^error'}, then: [{send: then}], else: [{send: else}]}\n"
    _, scene = await run_steps(steps, scene, EVENT)
    assert [action.text for action in scene.gate.executed] == done


async def test_the_answer_to_a_question_decides_a_branch():
    steps = "  - ask: {question: 'which?', choices: [a, b], goes_on: true}\n"
    steps += "  - branch: {if: {answer: a}, then: [{send: first}], else: [{send: other}]}\n"
    _, scene = await run_steps(steps, trigger=EVENT)
    assert [getattr(action, "text", "") for action in scene.gate.executed] == ["", "first"]


async def test_a_program_is_started_in_a_window_beside_the_pane():
    _, scene = await run_steps("  - run: make test\n  - sleep: 2s\n", trigger=EVENT)
    assert scene.gate.executed[0].command == ("make", "test")


def test_all_parts_of_a_condition_must_hold():
    seen = Observation(at=1, pane=PaneId(1), lines=("abc",), agent="codex", state="idle")
    assert is_condition_met(BranchCondition(text="ab", agent="codex", state=("idle",)), seen)
    assert not is_condition_met(BranchCondition(text="ab", agent="gemini"), seen)
    assert not is_condition_met(BranchCondition(text="ab", state=("running",)), seen)
    assert not is_condition_met(BranchCondition(text="x"), seen)


@pytest.mark.parametrize(
    ("choice", "goes_on", "status", "why"),
    [
        ("yes", "false", "completed", "2 steps done"),
        ("no", "false", "cancelled", "a person answered no"),
        ("", "false", "cancelled", "no answer in time"),
        ("yes", "true", "completed", "2 steps done"),
        ("no", "true", "completed", "2 steps done"),
    ],
)
async def test_a_question_is_a_confirmation_unless_the_run_goes_on(choice, goes_on, status, why):
    scene = WorkflowScene()
    errors = {"no": Refused("no", details={"why": "denied"}), "": NeedsApproval("late")}
    scene.gate.errors = [errors[choice]] if choice in errors else []
    run, _ = await run_steps(f"  - ask: {{question: go, goes_on: {goes_on}}}\n  - note: x\n", scene, EVENT)
    assert (run.status, run.why) == (status, why)
