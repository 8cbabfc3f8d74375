"""Token usage and resume id of an ended session are stored, also if its pane is gone."""

import pytest
from msgspec.structs import replace

from termvisor.model.event import Event
from termvisor.model.ids import RuntimeId, SessionId
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.builtin.handle_session_end import WORKFLOW, parse_token_counts, render_ending
from termvisor.workflows.results import SessionRecord
from tests.unit.workflows.running_engine import advance_time, run_engine, wait_until_ended

RUNTIME = RuntimeId(4)
OVER = SessionRecord(
    id=SessionId(12),
    agent="codex",
    runtime=RUNTIME,
    session="0196",
    resume=("codex", "resume", "0196"),
    is_over=True,
    end_reason="completed",
)
CAPTURES = {"total": "100,117", "input": "90,506", "cached": "3,008,512", "output": "9,611", "reasoning": "7,168"}


def build_scene(*known: SessionRecord) -> WorkflowScene:
    scene = WorkflowScene(WORKFLOW)
    scene.sessions.stored_sessions = list(known)
    return scene


async def run_workflow(scene: WorkflowScene, **more):
    async with run_engine(scene):
        scene.add_detection("session.summary", **{"runtime": RUNTIME, "agent": "codex", "captures": CAPTURES} | more)
        return await wait_until_ended(scene)


async def test_printed_tokens_are_stored_and_the_resume_command_is_noted():
    scene = build_scene(OVER)
    run = await run_workflow(scene)
    assert run.why == "session 12 of codex is over (completed): 100,117 tokens; `visor revive 12` takes it up again"
    assert scene.sessions.stored_sessions[0].tokens["cached"] == 3_008_512
    assert scene.gate.executed == []
    assert scene.detections.handling_by_event[1].by == "workflow:handle_session_end"


async def test_a_slow_exit_is_awaited():
    scene = build_scene(replace(OVER, is_over=False))
    async with run_engine(scene):
        scene.add_detection("session.summary", runtime=RUNTIME, agent="codex", captures=CAPTURES)
        await advance_time(scene, 1.0, 5)
        scene.sessions.stored_sessions = [OVER]
        run = await wait_until_ended(scene)
    assert run.why.startswith("session 12 of codex is over (completed): 100,117 tokens")


async def test_the_resume_hint_gives_the_missing_session_id():
    scene = build_scene(replace(OVER, session="", resume=()))
    async with run_engine(scene):
        scene.add_detection("session.summary", runtime=RUNTIME, captures=CAPTURES)
        await advance_time(scene)
        scene.add_detection("session.resume_hint", runtime=RUNTIME, captures={"session_id": "0196"})
        await wait_until_ended(scene)
    assert scene.sessions.stored_sessions[0].session == "0196"


async def test_the_run_completes_after_its_pane_is_closed():
    scene = build_scene(OVER)
    async with run_engine(scene):
        scene.add_detection("session.summary", runtime=RUNTIME, captures=CAPTURES)
        await advance_time(scene)
        scene.services.remove_pane(scene.pane)
        scene.events.publish(Event(at=0, kind="pane_gone", pane=scene.pane))
        run = await wait_until_ended(scene)
    assert run.status == "completed"


async def test_the_session_named_in_the_event_is_updated_not_the_next_one():
    follows = replace(OVER, id=SessionId(13), session="0197", is_over=False)
    scene = build_scene(OVER, follows)
    run = await run_workflow(scene, captures={**CAPTURES, "session_id": "0196"})
    assert run.why.startswith("session 12 ")


@pytest.mark.parametrize(
    ("known", "status", "why"),
    [
        ((), "cancelled", "no session of this pane found"),
        ((replace(OVER, is_over=False),), "completed", "session 12 is still open"),
    ],
)
async def test_a_missing_or_open_session_is_left_alone(known, status, why):
    run = await run_workflow(build_scene(*known))
    assert (run.status, run.why) == (status, why)


def test_only_integers_are_parsed_as_token_counts():
    assert parse_token_counts({"total": "1,2", "input": "many", "output": "-3", "cached": "9" * 40}) == {"total": 12}


def test_unknown_values_are_left_out():
    bare = replace(OVER, resume=(), end_reason="", cost=0.5)
    assert render_ending(bare) == "session 12 of codex is over: tokens unknown, $0.50; nothing takes it up again"
