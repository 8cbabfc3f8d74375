"""The agent is prompted once after a compaction, if that is still current."""

import pytest

from termvisor.errors import Conflict, NotFound
from termvisor.model.action.outcome import Outcome
from termvisor.model.ids import RuntimeId
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.builtin.handle_compaction import REFRESH_PROMPTS, WORKFLOW
from termvisor.workflows.results import PreferenceValues
from tests.unit.workflows.running_engine import advance_time, run_engine, wait_until_ended

RUNTIME = RuntimeId(4)
ROW = "  ⎿  Compacted (ctrl+o to see full summary)"


def build_scene(agent: str = "claude_code", **facts) -> WorkflowScene:
    scene = WorkflowScene(WORKFLOW)
    known = {"agent": agent, "runtime": RUNTIME, "state": "idle", "screen": (ROW,)}
    scene.pane_observer.change_pane(scene.pane, **known | facts)
    scene.gate.after_action = lambda _: scene.pane_observer.change_pane(
        scene.pane, state="running", state_at=scene.clock.now()
    )
    return scene


async def run_workflow(scene: WorkflowScene, **more):
    async with run_engine(scene):
        agent = scene.pane_observer.observations[scene.pane].agent
        scene.add_detection(**{"context": ROW, "runtime": RUNTIME, "agent": agent, "source": "screen"} | more)
        return await wait_until_ended(scene)


def list_sent_texts(scene: WorkflowScene) -> list[str]:
    return [action.text for action in scene.gate.executed]


@pytest.mark.parametrize("agent", REFRESH_PROMPTS)
async def test_each_agent_gets_its_own_prompt_once_and_the_event_is_handled(agent):
    scene = build_scene(agent)
    run = await run_workflow(scene)
    assert (run.status, run.why) == ("completed", "the prompt was sent and the agent started to work (running)")
    assert list_sent_texts(scene) == [REFRESH_PROMPTS[agent]]
    assert scene.detections.handling_by_event[1].by == "workflow:handle_compaction"


async def test_the_settings_or_the_project_override_the_prompt():
    scene = build_scene()
    scene.preferences.stored_preferences = PreferenceValues(values={"compaction_prompt": "Read NOTES.md."})
    assert (await run_workflow(scene)).status == "completed"
    assert list_sent_texts(scene) == ["Read NOTES.md."]


async def test_a_problem_with_the_projects_prompt_is_noted():
    scene = build_scene()
    scene.preferences.stored_preferences = PreferenceValues(trouble=".termvisor.toml: too large")
    await run_workflow(scene)
    notes = [step.given for step in scene.runs.steps_by_run[1].values() if step.kind == "note"]
    assert "too large" in notes[0]


async def test_a_compaction_reported_by_the_agent_is_enough():
    scene = build_scene(screen=())
    assert (await run_workflow(scene, rule="signal.compacting", source="signal", context="")).status == "completed"


async def test_a_working_agent_queues_the_prompt():
    scene = build_scene(state="running")
    scene.pane_observer.change_pane(scene.pane, compacting=False)
    run = await run_workflow(scene)
    assert run.why == "the prompt was sent; the agent has queued it"


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"screen": ("something else",)}, "the compaction is over: the text is no longer there"),
        ({"agent": "", "runtime": None, "is_alternate": True}, "another program has the screen"),
        ({"agent": "", "runtime": None}, "its agent has exited"),
        ({"compacting": True}, "the agent is compacting again"),
    ],
)
async def test_a_run_is_cancelled_if_the_compaction_is_no_longer_current(facts, why):
    scene = build_scene()
    async with run_engine(scene):
        scene.add_detection(context=ROW, agent="claude_code", source="screen")
        scene.pane_observer.change_pane(scene.pane, **facts)
        run = await wait_until_ended(scene)
    assert (run.status, run.why, list_sent_texts(scene)) == ("cancelled", why, [])
    assert not scene.detections.handling_by_event


async def test_a_typing_user_cancels_the_run_at_once():
    scene = build_scene()
    scene.gate.errors = [Conflict("a user typed there", details={"why": "human_typing"})]
    run = await run_workflow(scene)
    assert (run.status, run.why) == ("cancelled", "a person uses the pane: a user typed there")
    assert list_sent_texts(scene) == []


async def test_a_closed_pane_cancels_the_run():
    scene = build_scene()
    scene.gate.errors = [NotFound("pane 1 no longer exists")]
    assert ((await run_workflow(scene)).status, list_sent_texts(scene)) == ("cancelled", [])


async def test_a_text_that_may_have_arrived_is_not_sent_again():
    scene = build_scene()
    scene.gate.outcome = Outcome(status="unknown", why="not_confirmed")
    run = await run_workflow(scene)
    assert (run.status, len(list_sent_texts(scene))) == ("failed", 1)


async def test_a_prompt_without_an_effect_fails_the_run():
    scene = build_scene()
    scene.gate.after_action = lambda _: None
    run = await run_workflow(scene)
    assert (run.status, run.why) == ("failed", "the prompt was sent, but the agent did not start to work")
    (failed,) = [step for step in scene.runs.steps_by_run[1].values() if step.status == "failed"]
    assert failed.kind == "wait_for"


async def test_an_agent_that_never_settles_is_prompted_after_a_while():
    scene = build_scene()
    async with run_engine(scene):
        scene.add_detection(context=ROW, runtime=RUNTIME, agent="claude_code", source="screen")
        for _ in range(21):
            scene.services.print_lines(scene.pane, "working")
            await advance_time(scene)
        run = await wait_until_ended(scene)
    assert (run.status, len(scene.gate.executed)) == ("completed", 1)
    notes = [step.given for step in scene.runs.steps_by_run[1].values() if step.kind == "note"]
    assert notes == ['{"text":"the agent goes on working","type":"note"}']
