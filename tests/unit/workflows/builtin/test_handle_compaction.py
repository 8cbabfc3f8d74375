"""The agent is prompted once after a compaction, if that is still current."""

import pytest

from termvisor.errors import Conflict, NotFound
from termvisor.model.action.outcome import Outcome
from termvisor.model.ids import RuntimeId
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.builtin.handle_compaction import REFRESH_PROMPTS, WORKFLOW
from termvisor.workflows.results import PreferenceValues
from tests.unit.workflows.running_engine import run_engine, wait_until_ended

RUNTIME = RuntimeId(4)
ROW = "  ⎿  Compacted (ctrl+o to see full summary)"


def scene_of(agent: str = "claude_code", **facts) -> WorkflowScene:
    scene = WorkflowScene(WORKFLOW)
    known = {"agent": agent, "runtime": RUNTIME, "state": "idle", "screen": (ROW,)}
    scene.pane_observer.change_pane(scene.pane, **known | facts)
    scene.gate.after_action = lambda _: scene.pane_observer.change_pane(
        scene.pane, state="running", state_at=scene.clock.now()
    )
    return scene


async def lived(scene: WorkflowScene, **more):
    async with run_engine(scene):
        agent = scene.pane_observer.observations[scene.pane].agent
        scene.add_detection(**{"context": ROW, "runtime": RUNTIME, "agent": agent, "source": "screen"} | more)
        return await wait_until_ended(scene)


def sent(scene: WorkflowScene) -> list[str]:
    return [action.text for action in scene.gate.executed]


@pytest.mark.parametrize("agent", REFRESH_PROMPTS)
async def test_each_agent_gets_its_own_prompt_once_and_the_event_is_handled(agent):
    scene = scene_of(agent)
    run = await lived(scene)
    assert (run.status, run.why) == ("completed", "the prompt was sent and the agent started to work (running)")
    assert sent(scene) == [REFRESH_PROMPTS[agent]]
    assert scene.detections.handling_by_event[1].by == "workflow:handle_compaction"


async def test_the_settings_or_the_project_override_the_prompt():
    scene = scene_of()
    scene.preferences.stored_preferences = PreferenceValues(values={"compaction_prompt": "Read NOTES.md."})
    assert (await lived(scene)).status == "completed"
    assert sent(scene) == ["Read NOTES.md."]


async def test_a_problem_with_the_projects_prompt_is_noted():
    scene = scene_of()
    scene.preferences.stored_preferences = PreferenceValues(trouble=".termvisor.toml: too large")
    await lived(scene)
    notes = [step.given for step in scene.runs.steps_by_run[1].values() if step.kind == "note"]
    assert "too large" in notes[0]


async def test_a_compaction_reported_by_the_agent_is_enough():
    scene = scene_of(screen=())
    assert (await lived(scene, rule="signal.compacting", source="signal", context="")).status == "completed"


async def test_a_working_agent_queues_the_prompt():
    scene = scene_of(state="running")
    scene.pane_observer.change_pane(scene.pane, compacting=False)
    run = await lived(scene)
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
async def test_it_steps_back(facts, why):
    scene = scene_of()
    async with run_engine(scene):
        scene.add_detection(context=ROW, agent="claude_code", source="screen")
        scene.pane_observer.change_pane(scene.pane, **facts)
        run = await wait_until_ended(scene)
    assert (run.status, run.why, sent(scene)) == ("cancelled", why, [])
    assert not scene.detections.handling_by_event


async def test_for_a_person_who_types_there_it_steps_back_at_once():
    scene = scene_of()
    scene.gate.errors = [Conflict("somebody typed there", details={"why": "human_typing"})]
    run = await lived(scene)
    assert (run.status, run.why) == ("cancelled", "a person uses the pane: somebody typed there")
    assert sent(scene) == []


async def test_a_pane_that_is_gone_ends_it():
    scene = scene_of()
    scene.gate.errors = [NotFound("pane 1 no longer exists")]
    assert ((await lived(scene)).status, sent(scene)) == ("cancelled", [])


async def test_a_text_that_may_have_arrived_is_not_sent_again():
    scene = scene_of()
    scene.gate.outcome = Outcome(status="unknown", why="not_confirmed")
    run = await lived(scene)
    assert (run.status, len(sent(scene))) == ("failed", 1)


async def test_a_prompt_without_an_effect_fails_the_run():
    scene = scene_of()
    scene.gate.after_action = lambda _: None
    run = await lived(scene)
    assert (run.status, run.why) == ("failed", "the prompt was sent, but the agent did not start to work")
