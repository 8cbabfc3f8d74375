"""A crashed agent is restarted with its session, and never in a loop."""

import pytest
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.errors import NeedsApproval, Refused
from termvisor.model.action.action import Notify, SendText, Spawn
from termvisor.model.ids import PaneId, RuntimeId, SessionId
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.builtin.restart_crashed import WORKFLOW, build_resume_command
from termvisor.workflows.results import Observation, SessionRecord
from tests.unit.workflows.running_engine import run_engine, wait_until_ended

RUNTIME = RuntimeId(4)
CRASHED = SessionRecord(
    id=SessionId(12),
    agent="claude_code",
    runtime=RUNTIME,
    session="5e55",
    resume=("claude", "--resume", "5e55"),
    cwd="/src",
    is_over=True,
)


def build_scene(comes: str = "5e55", **facts) -> WorkflowScene:
    scene = WorkflowScene(WORKFLOW)
    scene.sessions.stored_sessions = [CRASHED]
    scene.pane_observer.change_pane(scene.pane, **{"activity": "prompt", "cwd": "/src"} | facts)

    def after(action) -> None:
        if isinstance(action, SendText):
            scene.pane_observer.change_pane(
                scene.pane, agent="claude_code", runtime=RuntimeId(5), session=comes, state="idle"
            )

    scene.gate.after_action = after if comes else lambda _: None
    return scene


async def run_workflow(scene: WorkflowScene, crashes: int = 1):
    for _ in range(crashes - 1):
        scene.add_detection("agent.crashed", runtime=RUNTIME)
    await scene.runs.advance_cursor(crashes - 1)
    async with run_engine(scene):
        scene.add_detection("agent.crashed", runtime=RUNTIME, agent="claude_code", captures={"why": "it was killed"})
        return await wait_until_ended(scene)


async def test_the_session_is_resumed_in_the_same_pane_and_verified():
    scene = build_scene()
    run = await run_workflow(scene)
    assert (run.status, run.why) == ("completed", "claude_code is running again with session 5e55")
    assert [(one.pane, one.text) for one in scene.gate.executed] == [(scene.pane, "claude --resume 5e55")]
    assert scene.gate.received_preconditions[0].into == "prompt"


@pytest.mark.parametrize(("crashes", "typed"), [(2, 1), (3, 0), (5, 0)])
async def test_the_third_crash_within_ten_minutes_only_notifies(crashes, typed):
    scene = build_scene()
    run = await run_workflow(scene, crashes)
    assert sum(isinstance(one, SendText) for one in scene.gate.executed) == typed
    assert sum(isinstance(one, Notify) for one in scene.gate.executed) == 1 - typed
    assert run.status == "completed"
    assert ("not started again" in run.why) is not bool(typed)


async def test_old_crashes_do_not_count():
    scene = build_scene()
    now = scene.clock.now()
    for _ in range(5):
        scene.add_detection("agent.crashed", at=now - 3600 * NS)
    await scene.runs.advance_cursor(5)
    async with run_engine(scene):
        scene.add_detection("agent.crashed", runtime=RUNTIME)
        assert (await wait_until_ended(scene)).why.startswith("claude_code is running again")


@pytest.mark.parametrize("facts", [{"activity": "command"}, {"activity": "unknown"}, {"is_alternate": True}])
async def test_without_a_known_prompt_the_session_is_resumed_in_a_new_window(facts):
    scene = build_scene(**facts)

    def after(action) -> None:
        new = replace(CRASHED, id=SessionId(13), runtime=RuntimeId(5), is_over=False, pane=PaneId(8))
        scene.sessions.stored_sessions.append(new)

    scene.gate.after_action = after
    run = await run_workflow(scene)
    assert (run.status, run.why) == ("completed", "claude_code is running again with session 5e55, in pane 8")
    (started,) = scene.gate.executed
    assert (started.command, started.cwd, started.where) == (CRASHED.resume, "/src", "window")


async def test_a_window_without_the_session_is_reported():
    scene = build_scene(activity="unknown")
    run = await run_workflow(scene)
    assert "did not report session" in run.why
    assert [type(one) for one in scene.gate.executed] == [Spawn, Notify]
    assert scene.gate.executed[0].keeps_failure


async def test_a_pane_with_a_new_agent_gets_no_restart():
    scene = build_scene(agent="codex")
    run = await run_workflow(scene)
    assert (run.status, run.why, scene.gate.executed) == ("cancelled", "codex runs in the pane again", [])


async def test_an_agent_without_a_session_id_is_not_resumed():
    scene = build_scene()
    scene.sessions.stored_sessions = [replace(CRASHED, resume=())]
    run = await run_workflow(scene)
    assert (run.status, scene.gate.executed) == ("cancelled", [])


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (Refused("no", details={"why": "denied"}), "a person denied it"),
        (NeedsApproval("asked"), "no answer in time"),
        (Refused("the policy forbids it"), "the policy forbids it"),
    ],
)
async def test_a_declined_restart_is_not_executed(error, why):
    scene = build_scene()
    scene.gate.errors = [error]
    run = await run_workflow(scene)
    assert (run.status, run.why, scene.gate.executed) == ("cancelled", why, [])


async def test_a_failed_restart_is_reported_and_not_retried():
    scene = build_scene(comes="")
    run = await run_workflow(scene)
    assert run.why == "claude_code did not start again; it is not retried"
    assert [type(one) for one in scene.gate.executed] == [SendText, Notify]


async def test_a_restart_with_another_session_is_reported():
    scene = build_scene(comes="0ther")
    assert "it has not reported" in (await run_workflow(scene)).why


def test_the_restart_command_changes_to_the_folder_of_the_session():
    seen = Observation(at=0, pane=1, cwd="/home/me")
    assert build_resume_command(CRASHED, seen) == "cd /src && claude --resume 5e55"
    assert build_resume_command(replace(CRASHED, cwd="/a b"), seen) == "cd '/a b' && claude --resume 5e55"
    assert build_resume_command(replace(CRASHED, cwd=""), seen) == "claude --resume 5e55"


async def test_a_pane_without_a_prompt_is_noted():
    scene = build_scene(activity="command")
    await run_workflow(scene)
    notes = [step.given for step in scene.runs.steps_by_run[1].values() if step.kind == "note"]
    assert any("the pane shows no shell's prompt" in note for note in notes)
