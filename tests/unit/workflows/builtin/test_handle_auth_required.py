"""A login is shown to a person and verified; nothing is typed."""

import pytest

from termvisor.errors import NeedsApproval, Refused
from termvisor.model.action.action import AskPerson, Notify, get_action_kind
from termvisor.model.ids import RuntimeId
from termvisor.model.workflow import Run, RunId
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.builtin.handle_auth_required import WORKFLOW
from tests.unit.workflows.running_engine import advance_time, run_engine, wait_until_ended

RUNTIME = RuntimeId(4)
TOLD = {"code": "ABCD-12345", "url": "https://example.com/device"}
ROW = "Enter this one-time code ABCD-12345"


def build_scene(**facts) -> WorkflowScene:
    scene = WorkflowScene(WORKFLOW)
    known = {"agent": "codex", "runtime": RUNTIME, "state": "waiting_input", "auth_needed": True, "screen": (ROW,)}
    scene.pane_observer.change_pane(scene.pane, **known | facts)
    return scene


def add_auth_detection(scene: WorkflowScene, type_: str = "auth.device_code", **more) -> None:
    given = {"captures": TOLD, "runtime": RUNTIME, "agent": "codex", "source": "screen", "context": ROW}
    scene.add_detection(type_, **given | more)


def log_in_after_approval(scene: WorkflowScene):
    """Simulate a login of the agent before the user answers."""

    def after(action) -> None:
        if isinstance(action, AskPerson):
            scene.pane_observer.change_pane(scene.pane, auth_needed=False, state="idle")

    return after


async def test_the_user_is_shown_address_and_code_and_the_login_is_verified():
    scene = build_scene()
    scene.gate.after_action = log_in_after_approval(scene)
    async with run_engine(scene):
        add_auth_detection(scene)
        run = await wait_until_ended(scene)
    assert (run.status, run.why) == ("completed", "codex is logged in, and idle")
    notification, question = scene.gate.executed
    assert isinstance(notification, Notify)
    assert {"https://example.com/device", "ABCD-12345"} <= set(notification.text.split())
    assert "ABCD-12345" in question.question
    assert scene.detections.handling_by_event[1].by == "workflow:handle_auth_required"


async def test_a_login_that_succeeds_by_itself_withdraws_the_approval_request():
    scene = build_scene()
    real = scene.gate.run

    async def run_action(action, actor, preconditions):
        scene.gate.hangs = isinstance(action, AskPerson)
        return await real(action, actor, preconditions)

    scene.gate.run = run_action
    async with run_engine(scene):
        add_auth_detection(scene)
        await advance_time(scene, times=3)
        assert scene.runs.stored_runs[RunId(1)].status == "waiting"
        scene.pane_observer.change_pane(scene.pane, auth_needed=False, state="idle")
        run = await wait_until_ended(scene)
    assert run.status == "completed"
    assert len(scene.gate.withdrawn_correlations) == 2  # the approval request, and at the end all requests of the run


async def test_without_a_flag_the_code_must_leave_the_screen():
    scene = build_scene(auth_needed=False)

    def after(action) -> None:
        if isinstance(action, AskPerson):
            scene.pane_observer.change_pane(scene.pane, screen=("› ",), state="idle")

    scene.gate.after_action = after
    async with run_engine(scene):
        add_auth_detection(scene)
        run = await wait_until_ended(scene)
    assert run.why == "codex is logged in, and idle"


async def test_a_missing_code_is_awaited_twice_then_the_run_pauses():
    scene = build_scene()
    async with run_engine(scene):
        add_auth_detection(scene, "auth.required", rule="signal.auth_needed", source="signal", captures={})
        await advance_time(scene, 5.0, times=10)
        run = scene.runs.stored_runs[RunId(1)]
        assert run.status == "paused"
        assert "it shows no code" in run.plan
        assert scene.detections.handling_by_event[1].action == "paused, as planned"
        kinds = [step.kind for step in await scene.runs.list_steps(RunId(1))]
        assert kinds.count("wait_for") == 2
        scene.pane_observer.change_pane(scene.pane, auth_needed=False, state="running")
        run = await wait_until_ended(scene)
    assert run.why == "codex is logged in, and running"


async def test_an_agent_that_continues_is_logged_in_once_the_flag_is_cleared():
    scene = build_scene()
    async with run_engine(scene):
        add_auth_detection(scene, "auth.required", rule="signal.auth_needed", source="signal", captures={})
        await advance_time(scene, 5.0, times=10)
        scene.pane_observer.change_pane(scene.pane, state="running")
        await advance_time(scene, 1.0, times=3)
        assert scene.runs.stored_runs[RunId(1)].status == "running"
        scene.pane_observer.change_pane(scene.pane, auth_needed=False, state="completed")
        run = await wait_until_ended(scene)
    assert run.why == "codex is logged in, and completed"


@pytest.mark.parametrize("captures", [{}, {"url": TOLD["url"]}], ids=["no code", "an address alone"])
async def test_stopping_after_the_login_report_does_not_end_the_pause(captures):
    scene = build_scene(state="running")
    async with run_engine(scene):
        add_auth_detection(scene, "auth.required", rule="signal.auth_needed", source="signal", captures=captures)
        await advance_time(scene)
        scene.pane_observer.change_pane(scene.pane, state="idle")
        await advance_time(scene, 5.0, times=20)
        assert scene.runs.stored_runs[RunId(1)].status == "paused"
        scene.pane_observer.change_pane(scene.pane, auth_needed=False, state="running")
        run = await wait_until_ended(scene)
    assert run.why == "codex is logged in, and running"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://example.com/authorize?state=1", "open https://example.com/authorize?state=1, and enter in the pane"),
        ("https://example.com/" + "x" * 380, "open the address that it shows, and enter in the pane"),
    ],
    ids=["whole", "cut"],
)
async def test_an_address_without_a_code_is_shown_if_it_is_complete(url, words):
    scene = build_scene(agent="gemini")
    async with run_engine(scene):
        add_auth_detection(scene, captures={"url": url})
        await advance_time(scene, times=3)
        run = scene.runs.stored_runs[RunId(1)]
    assert words in run.plan
    assert [get_action_kind(one) for one in scene.gate.executed] == ["notify"]


async def test_a_code_that_appears_later_starts_its_own_run():
    scene = build_scene()
    scene.gate.after_action = log_in_after_approval(scene)
    async with run_engine(scene):
        add_auth_detection(scene, "auth.required", rule="signal.auth_needed", source="signal", captures={})
        await advance_time(scene, 5.0)
        add_auth_detection(scene)
        first, second = await wait_until_ended(scene), await wait_until_ended(scene, 2)
    assert "run of its own" in first.why
    assert second.why == "codex is logged in, and idle"


async def test_an_approval_without_a_login_pauses_the_run():
    scene = build_scene()
    async with run_engine(scene):
        add_auth_detection(scene)
        await advance_time(scene, 10.0, times=8)
        run = scene.runs.stored_runs[RunId(1)]
        assert (run.status, "it still asks for a login" in run.plan) == ("paused", True)


async def test_a_denial_cancels_the_run_and_a_failed_channel_does_not():
    scene = build_scene()
    scene.gate.errors = [Refused("no terminal"), Refused("no", details={"why": "denied"})]
    async with run_engine(scene):
        add_auth_detection(scene)
        run = await wait_until_ended(scene)
    assert (run.status, run.why) == ("cancelled", "a person takes care of the login")


@pytest.mark.parametrize(
    ("facts", "status", "why"),
    [
        ({"auth_needed": False, "screen": ("› ",)}, "completed", "no login is needed any more"),
        ({"agent": "", "runtime": RUNTIME}, "cancelled", "the agent has exited"),
    ],
)
async def test_a_past_login_request_is_ignored(facts, status, why):
    scene = build_scene(**facts)
    async with run_engine(scene):
        add_auth_detection(scene)
        run = await wait_until_ended(scene)
    assert (run.status, run.why, scene.gate.executed) == (status, why, [])


async def test_the_workflow_never_types_anything():
    scene = build_scene()
    scene.gate.after_action = log_in_after_approval(scene)
    async with run_engine(scene):
        add_auth_detection(scene)
        await wait_until_ended(scene)
    assert {get_action_kind(action) for action in scene.gate.executed} == {"notify", "ask_person"}


async def test_a_login_that_is_never_seen_is_reported():
    scene = build_scene()
    async with run_engine(scene):
        add_auth_detection(scene, "auth.required", rule="signal.auth_needed", source="signal", captures={})
        await advance_time(scene, 5.0, times=10)
        scene.pane_observer.change_pane(scene.pane, state="running")
        run = await wait_until_ended(scene)
    assert (run.status, run.why) == ("completed", "codex still needs a login")


async def test_a_run_of_a_person_asks_for_the_login_itself():
    scene = build_scene()
    scene.gate.after_action = log_in_after_approval(scene)
    add_auth_detection(scene)
    async with run_engine(scene) as engine:
        await engine.start_run(
            Run(workflow="handle_auth_required", origin="person", pane=scene.pane, at=1, correlation="c", mode="on")
        )
        run = await wait_until_ended(scene)
    assert (run.why, [type(one) for one in scene.gate.executed]) == (
        "codex is logged in, and idle",
        [Notify, AskPerson],
    )


async def test_a_question_that_nobody_answers_leaves_a_plan():
    scene = build_scene()
    real = scene.gate.run

    async def run_action(action, actor, preconditions):
        if isinstance(action, AskPerson):
            raise NeedsApproval("late")
        return await real(action, actor, preconditions)

    scene.gate.run = run_action
    async with run_engine(scene):
        add_auth_detection(scene)
        await advance_time(scene, 1.0, times=3)
        run = scene.runs.stored_runs[RunId(1)]
        assert run.status == "paused"
        assert "nobody answered while the code was good" in run.plan
