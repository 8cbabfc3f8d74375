"""Actions of runs: recorded results of attempts, and actions built from pane requests."""

import pytest
from msgspec.structs import replace

from termvisor.errors import BadRequest, NotDone, NotFound
from termvisor.model.action.action import Actor, Notify, SendKeys, SendText, SetTitle, Spawn
from termvisor.model.action.audit import AuditEntry
from termvisor.model.action.outcome import DeliveryRecord, Outcome
from termvisor.model.ids import PaneId
from termvisor.model.workflow import Run, RunId, RunStep
from termvisor.testing.fake_services import build_shell_facts
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.calls import (
    ActionCall,
    AskPersonCall,
    NotifyRequest,
    PressKeysRequest,
    SendTextRequest,
    SpawnRequest,
)
from termvisor.workflows.engine.journaled_calls import StepExecution
from termvisor.workflows.steps.act import (
    build_correlation,
    build_pane_action,
    needs_approval,
    read_recorded_answer,
    read_recorded_result,
)

ME = Actor(kind="workflow", uid=1, pid=1)


def build_entry(stage: str, outcome: str = "", why: str = "") -> AuditEntry:
    return AuditEntry(at=1, correlation="c", stage=stage, kind="send_text", actor=ME, outcome=outcome, why=why)


def send(status: str | None) -> DeliveryRecord:
    return DeliveryRecord(key="c", correlation="c", pane=PaneId(1), action_hash="", begun_at=1, status=status)


@pytest.mark.parametrize(
    ("entries", "sent", "status"),
    [
        ([], None, None),
        ([build_entry("asked")], None, None),
        ([build_entry("asked"), build_entry("answered", "allow")], None, None),
        ([build_entry("asked", "deny")], None, None),
        ([build_entry("intent")], None, "unknown"),
        ([build_entry("intent"), build_entry("outcome", "done")], None, "done"),
        ([build_entry("intent")], send(None), "unknown"),
        ([build_entry("intent")], send("delivered"), "delivered"),
        ([build_entry("intent")], send("typed_not_submitted"), "typed_not_submitted"),
    ],
)
def test_the_audit_log_gives_the_result_of_an_attempt(entries, sent, status):
    result = read_recorded_result(entries, sent, "c")
    assert (result.status if result else None) == status


@pytest.mark.parametrize(
    ("entries", "sent", "expected"),
    [
        ([build_entry("outcome", "denied", "quiet hours")], None, ("denied", "quiet hours")),
        (
            [build_entry("intent"), build_entry("outcome", "refused", "reserved")],
            send("refused"),
            ("refused", "reserved"),
        ),
        ([build_entry("asked"), build_entry("answered", "deny")], None, ("denied", "denied")),
    ],
)
def test_a_refused_attempt_stays_refused(entries, sent, expected):
    with pytest.raises(NotDone) as error:
        read_recorded_result(entries, sent, "c")
    assert (error.value.status, error.value.why) == expected


def test_an_answer_before_the_crash_counts():
    call = AskPersonCall(question="?", choices=("go", "later", "no"))
    assert read_recorded_answer([build_entry("asked")], call) is None
    assert read_recorded_answer([build_entry("answered", "allow")], call).choice == "go"
    assert read_recorded_answer([build_entry("answered", "deny")], call).choice == "no"


def test_a_pane_request_becomes_an_action_for_the_current_pane():
    view = WorkflowScene().services.add_pane(build_shell_facts(alternate=True))
    text, preconditions = build_pane_action(SendTextRequest(text="hi"), view, is_agent=True)
    assert text == SendText(pane=view.id, text="hi", into_screen=True)
    assert preconditions.into == "program"
    assert build_pane_action(SendTextRequest(text="hi"), view, is_agent=False)[1].into == "prompt"
    assert build_pane_action(PressKeysRequest(keys=("C-c",)), view, is_agent=False)[0] == SendKeys(
        pane=view.id, keys=("C-c",)
    )
    assert isinstance(build_pane_action(NotifyRequest(title="a", text="b"), view, is_agent=False)[0], Notify)
    window = build_pane_action(SpawnRequest(command=("make",)), view, is_agent=False)[0]
    assert (window.session, window.cwd, window.command) == ("$1", "/home/me/project", ("make",))
    beside = build_pane_action(SpawnRequest(command=(), where="pane"), view, is_agent=False)[0]
    assert isinstance(beside, Spawn)
    assert beside.beside == view.id


def test_read_only_actions_and_notifications_need_no_approval():
    pane = PaneId(1)
    assert needs_approval(SendText(pane=pane, text="x"))
    assert not needs_approval(SetTitle(pane=pane, title="x"))
    assert not needs_approval(Notify(title="a", text="b", way="webhook"))


def test_every_attempt_has_its_own_key():
    run = Run(id=RunId(4), workflow="w", at=1, correlation="story")
    step = RunStep(number=2, kind="act", at=1, attempt=3)
    assert build_correlation(StepExecution(run=run, step=step)) == "story.4.2.3"


async def test_a_run_without_a_pane_cannot_act_on_it():
    scene = WorkflowScene()
    run = Run(id=RunId(1), workflow="w", at=1, correlation="c")
    with pytest.raises(NotDone, match="no pane"):
        await scene.build_engine().step_runner.action_steps.build_action(
            run, ActionCall(wish=SendTextRequest(text="x"))
        )


@pytest.mark.parametrize("is_resumed", [False, True])
async def test_a_failed_notification_stays_failed_after_a_crash(is_resumed):
    scene = WorkflowScene()
    scene.gate.outcome = Outcome(status="failed", why="nobody_attached", text="nobody is attached")
    run = Run(id=RunId(1), workflow="w", at=1, correlation="c", pane=scene.pane)
    going = StepExecution(run=run, step=RunStep(number=1, kind="act", at=1), is_resumed=is_resumed)
    if is_resumed:
        failed = build_entry("outcome", "failed", "nobody_attached")
        scene.gate.audit_entries.append(replace(failed, correlation=build_correlation(going)))
    with pytest.raises(NotDone, match="it failed: nobody_attached") as error:
        await scene.build_engine().step_runner.action_steps.run_action(
            ActionCall(wish=NotifyRequest(title="a", text="b")), going
        )
    assert (error.value.status, error.value.why) == ("failed", "nobody_attached")
    assert len(scene.gate.executed) == (0 if is_resumed else 1)


def test_a_step_that_needs_a_pane_says_that_the_run_has_none():
    run, step = Run(id=RunId(1), workflow="w", at=1, correlation="c"), RunStep(number=0, kind="act", at=1)
    with pytest.raises(BadRequest, match="the run has no pane"):
        StepExecution(run=run, step=step).require_pane()
    assert StepExecution(run=replace(run, pane=PaneId(7)), step=step).require_pane() == 7


async def test_a_pane_that_is_gone_gets_no_action():
    scene = WorkflowScene()
    steps = scene.build_engine().step_runner.action_steps
    call = ActionCall(wish=PressKeysRequest(keys=("C-c",)))
    run = Run(id=RunId(1), workflow="w", at=1, correlation="c", pane=scene.pane)
    assert (await steps.build_action(run, call))[0] == SendKeys(pane=scene.pane, keys=("C-c",))
    scene.services.remove_pane(scene.pane)
    for pane in (scene.pane, PaneId(999)):
        with pytest.raises(NotFound, match=f"pane {pane} no longer exists"):
            await steps.build_action(replace(run, pane=pane), call)
