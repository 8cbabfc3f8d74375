"""The steps of a file, run on the engine."""

import pytest

from termvisor.errors import Refused
from termvisor.model.action.outcome import Outcome
from termvisor.model.ids import PaneId
from termvisor.testing.runs import Scene
from termvisor.workflows.calls import Observation
from termvisor.workflows.files.loader import Reader
from termvisor.workflows.files.step_types import Condition, holds
from termvisor.workflows.files.yaml_source import parse
from tests.unit.workflows.living import ended, living


async def played(steps: str, scene: Scene | None = None, trigger: str = "", **facts):
    """What came of these steps."""
    scene = scene or Scene()
    head = f"name: mine\nmode: 'on'\n{trigger}"
    scene.shelf = Scene(Reader(parse("w.yaml", f"{head}steps:\n{steps}")).workflow()).shelf
    scene.world.say(scene.pane, "compacted")
    async with living(scene):
        scene.find(captures=facts)
        return await ended(scene), scene


EVENT = "trigger: {event: session.compaction}\n"


async def test_the_steps_are_taken_in_their_order():
    steps = "  - wait_stable: 2s\n  - send: hello\n  - keys: C-c Enter\n  - notify: 'at {{ when }}'\n  - note: x\n"
    run, scene = await played(steps, trigger=EVENT, when="noon")
    assert (run.status, run.why) == ("completed", "5 steps done")
    text, keys, notice = scene.hands.done
    assert (text.text, keys.keys, notice.text, notice.title) == ("hello", ("C-c", "Enter"), "at noon", "mine")


async def test_a_run_steps_back_when_what_started_it_is_over():
    scene = Scene()
    head = "name: mine\nmode: 'on'\ntrigger: {event: session.compaction}\nsteps: [{send: hello}]"
    scene.shelf = Scene(Reader(parse("w.yaml", head)).workflow()).shelf
    async with living(scene):
        scene.find(context="long gone")
        run = await ended(scene)
    assert run.status == "cancelled"
    assert "no longer there" in run.why
    assert scene.hands.done == []


@pytest.mark.parametrize("step", ["keys: Enter", "run: make"])
async def test_what_may_or_may_not_have_been_done_ends_the_run(step):
    scene = Scene()
    scene.hands.outcome = Outcome(status="unknown", why="interrupted")
    run, _ = await played(f"  - {step}\n  - keys: C-c\n", scene, EVENT)
    assert (run.status, len(scene.hands.done)) == ("failed", 1)


@pytest.mark.parametrize(("errors", "status"), [([], "completed"), ([Refused("the policy says no")], "failed")])
async def test_a_way_to_tell_somebody_that_does_not_work_is_no_reason_to_stop(errors, status):
    scene = Scene()
    scene.hands.errors, scene.hands.outcome = errors, Outcome(status="failed", why="nobody_attached")
    run, _ = await played("  - notify: hello\n  - note: x\n", scene, EVENT)
    assert run.status == status


@pytest.mark.parametrize("status", ["unknown", "typed_not_submitted"])
async def test_a_text_of_which_nobody_knows_whether_it_was_taken_ends_the_run(status):
    scene = Scene()
    scene.hands.outcome = Outcome(status=status)
    run, _ = await played("  - send: hello\n  - keys: C-c\n", scene, EVENT)
    assert (run.status, len(scene.hands.done)) == ("failed", 1)


@pytest.mark.parametrize(("shown", "done"), [("error: x", ["then"]), ("fine", ["else"])])
async def test_a_branch_goes_by_what_the_pane_shows(shown, done):
    scene = Scene()
    scene.world.say(scene.pane, shown)
    steps = "  - branch: {if: {pattern: '^error'}, then: [{send: then}], else: [{send: else}]}\n"
    _, scene = await played(steps, scene, EVENT)
    assert [action.text for action in scene.hands.done] == done


async def test_the_answer_to_a_question_decides_a_branch():
    steps = "  - ask: {question: 'which?', choices: [a, b], goes_on: true}\n"
    steps += "  - branch: {if: {answer: a}, then: [{send: first}], else: [{send: other}]}\n"
    _, scene = await played(steps, trigger=EVENT)
    assert [getattr(action, "text", "") for action in scene.hands.done] == ["", "first"]


async def test_a_program_is_started_in_a_window_beside_the_pane():
    _, scene = await played("  - run: make test\n  - sleep: 2s\n", trigger=EVENT)
    assert scene.hands.done[0].command == ("make", "test")


def test_all_of_a_condition_must_hold():
    seen = Observation(at=1, pane=PaneId(1), lines=("abc",), agent="codex", state="idle")
    assert holds(Condition(text="ab", agent="codex", state=("idle",)), seen)
    assert not holds(Condition(text="ab", agent="gemini"), seen)
    assert not holds(Condition(text="ab", state=("running",)), seen)
    assert not holds(Condition(text="x"), seen)
