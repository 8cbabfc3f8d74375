"""Actions of runs: recorded results of attempts, and actions built from pane requests."""

import pytest
from msgspec.structs import replace

from termvisor.errors import (
    BadRequest,
    Conflict,
    MuxError,
    NeedsApproval,
    NotDone,
    NotFound,
    Refused,
    StorageError,
    TimedOut,
)
from termvisor.model.action.action import Actor, Notify, SendKeys, SendText, SetTitle, Spawn
from termvisor.model.action.audit import AuditEntry
from termvisor.model.action.outcome import DeliveryRecord, Outcome
from termvisor.model.action.preconditions import Preconditions
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
from termvisor.workflows.results import ActionStepResult, PersonAnswer
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
    return DeliveryRecord(
        key="c", correlation="c", pane=PaneId(1), action_hash="", begun_at=1, status=status, why=status and "w"
    )


@pytest.mark.parametrize(
    ("entries", "sent", "status"),
    [
        ([], None, None),
        ([build_entry("asked")], None, None),
        ([build_entry("asked"), build_entry("answered", "allow")], None, None),
        ([build_entry("asked", "deny")], None, None),
        ([build_entry("intent")], None, "unknown"),
        ([build_entry("intent"), build_entry("outcome", "done", "w")], None, "done"),
        ([build_entry("intent")], send(None), "unknown"),
        ([build_entry("intent")], send("delivered"), "delivered"),
        ([build_entry("intent")], send("typed_not_submitted"), "typed_not_submitted"),
    ],
)
def test_the_audit_log_gives_the_result_of_an_attempt(entries, sent, status):
    result = read_recorded_result(entries, sent, "c")
    why = "interrupted" if status == "unknown" else "w"
    assert result == (status and ActionStepResult(status=status, why=why, correlation="c"))


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
    assert read_recorded_answer([build_entry("answered", "allow")], call) == PersonAnswer(choice="go", why="allowed")
    later = [build_entry("answered", "allow"), build_entry("answered", "deny"), build_entry("outcome")]
    assert read_recorded_answer(later, call) == PersonAnswer(choice="no", why="denied")


SPAWN = SpawnRequest(command=("make",), cwd="/src", name="n", env={"A": "b"}, account="openai/work", keeps_failure=True)


@pytest.mark.parametrize(
    ("request_", "is_agent", "expected", "preconditions"),
    [
        (
            SendTextRequest(text="hi"), True,
            SendText(pane=PaneId(2), text="hi", into_screen=True), Preconditions(into="program", is_input_empty=True),
        ),
        (
            SendTextRequest(text="hi", enter=False), False,
            SendText(pane=PaneId(2), text="hi", enter=False), Preconditions(into="prompt"),
        ),
        (PressKeysRequest(keys=("C-c",)), True, SendKeys(pane=PaneId(2), keys=("C-c",)), Preconditions()),
        (
            NotifyRequest(title="a", text="b", way="desktop"), True,
            Notify(title="a", text="b", pane=PaneId(2), way="desktop"), Preconditions(),
        ),
        (
            SPAWN, False,
            Spawn(
                where="window", server="/tmp/s", session="$1", command=("make",), cwd="/src", name="n", env={"A": "b"},
                account="openai/work", keeps_failure=True,
            ),
            Preconditions(),
        ),
        (
            SpawnRequest(command=(), where="pane"), False,
            Spawn(where="pane", server="/tmp/s", beside=PaneId(2), command=(), cwd="/home/me/project"), Preconditions(),
        ),
    ],
)  # fmt: skip
def test_a_pane_request_becomes_an_action_for_the_current_pane(request_, is_agent, expected, preconditions):
    view = WorkflowScene().services.add_pane(build_shell_facts("%2", alternate=True))
    view = replace(view, instance=replace(view.instance, server=replace(view.instance.server, socket="/tmp/s")))
    assert build_pane_action(request_, view, is_agent=is_agent) == (expected, preconditions)


def test_a_window_opens_in_the_session_of_the_pane_and_by_name_if_it_has_no_id():
    view = WorkflowScene().services.add_pane(build_shell_facts("%2", session_id=""))
    spawn, _ = build_pane_action(SpawnRequest(command=()), view, is_agent=False)
    assert (spawn.session, spawn.beside) == (view.facts.session_name, None)


@pytest.mark.parametrize(
    ("error", "details"),
    [
        (Refused("no"), {"status": "denied", "why": "policy", "question": None}),
        (Refused("no", details={"why": "denied", "question": 3}), {"status": "denied", "why": "denied", "question": 3}),
        (Refused("no", details={"retry_at": "12:00"}), {"status": "denied", "why": "rate", "question": None}),
        (Refused("no", details={"retry_at": None}), {"status": "denied", "why": "policy", "question": None}),
        (NeedsApproval("no", details={"question": 3}), {"status": "expired", "why": "expired", "question": 3}),
        (MuxError("no"), {"status": "failed", "why": "mux_error", "question": None}),
        (Conflict("no", details={"why": "reserved"}), {"status": "refused", "why": "reserved", "question": None}),
        (Conflict("no"), {"status": "refused", "why": "reserved", "question": None}),
        (TimedOut("no"), {"status": "failed", "why": "timeout", "question": None}),
    ],
)
async def test_an_error_of_the_gate_becomes_a_status_and_a_reason(error, details):
    scene = WorkflowScene()
    scene.gate.errors = [error]
    run = Run(id=RunId(1), workflow="w", at=1, correlation="c", pane=scene.pane)
    steps = scene.build_engine().step_runner.action_steps
    with pytest.raises(NotDone, match=r"^no$") as raised:
        await steps.run_action(
            ActionCall(wish=PressKeysRequest(keys=("C-c",))),
            StepExecution(run=run, step=RunStep(number=1, kind="act", at=1)),
        )
    assert raised.value.details == details


@pytest.mark.parametrize("error", [NotFound("gone"), StorageError("disk full")])
async def test_a_missing_pane_or_store_is_no_outcome_of_the_action(error):
    scene = WorkflowScene()
    scene.gate.errors = [error]
    run = Run(id=RunId(1), workflow="w", at=1, correlation="c", pane=scene.pane)
    with pytest.raises(type(error), match=error.message):
        await scene.build_engine().step_runner.action_steps.run_action(
            ActionCall(wish=PressKeysRequest(keys=("C-c",))),
            StepExecution(run=run, step=RunStep(number=1, kind="act", at=1)),
        )


async def test_an_action_returns_its_whole_outcome():
    scene = WorkflowScene()
    scene.gate.outcome = Outcome(status="done", why="w", text="t", lines=7, mux_pane="%9")
    run = Run(id=RunId(1), workflow="w", at=1, correlation="c", pane=scene.pane)
    result = await scene.build_engine().step_runner.action_steps.run_action(
        ActionCall(action=SetTitle(pane=scene.pane, title="x")),
        StepExecution(run=run, step=RunStep(number=1, kind="act", at=5)),
    )
    assert result == ActionStepResult(
        status="done", why="w", text="t", correlation="c.1.1.1", line=7, mux_pane="%9", at=5
    )


@pytest.mark.parametrize(
    ("mode", "setting", "expected"),
    [("on", "on", "on"), ("on", "ask", "ask"), ("ask", "on", "ask"), ("ask", "off", "off"), ("off", "on", "off")],
)
def test_the_stricter_of_mode_and_setting_counts(mode, setting, expected):
    scene = WorkflowScene()
    scene.modes.modes["w"] = setting
    run = Run(id=RunId(1), workflow="w", at=1, correlation="c", mode=mode)
    assert scene.build_engine().step_runner.action_steps.get_effective_mode(run) == expected


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


@pytest.mark.parametrize("is_resumed", [False, True])
async def test_a_recorded_answer_counts_only_for_a_resumed_question(is_resumed):
    scene = WorkflowScene()
    run = Run(id=RunId(1), workflow="w", at=1, correlation="c", pane=scene.pane)
    step = RunStep(number=1, kind="ask_person", at=scene.clock.now())
    execution = StepExecution(run=run, step=step, is_resumed=is_resumed)
    scene.gate.audit_entries.append(replace(build_entry("answered", "deny"), correlation=build_correlation(execution)))
    steps = scene.build_engine().step_runner.action_steps
    answer = await steps.ask_person(AskPersonCall(question="?"), execution, scene.clock.now())
    assert answer == (
        PersonAnswer(choice="no", why="denied") if is_resumed else PersonAnswer(choice="yes", why="allowed")
    )
    assert len(scene.gate.executed) == (not is_resumed)


@pytest.mark.parametrize("is_resumed", [False, True])
async def test_a_recorded_action_counts_only_for_a_resumed_step(is_resumed):
    scene = WorkflowScene()
    run = Run(id=RunId(1), workflow="w", at=1, correlation="c", pane=scene.pane)
    execution = StepExecution(run=run, step=RunStep(number=1, kind="act", at=5), is_resumed=is_resumed)
    done = replace(build_entry("outcome", "done", "w"), correlation=build_correlation(execution))
    scene.gate.audit_entries.append(done)
    call = ActionCall(wish=PressKeysRequest(keys=("C-c",)))
    result = await scene.build_engine().step_runner.action_steps.run_action(call, execution)
    assert (result.status, result.at, len(scene.gate.executed)) == (
        ("done", 5, 0) if is_resumed else ("delivered", 5, 1)
    )


async def test_a_workflow_that_is_switched_off_does_not_act():
    scene = WorkflowScene()
    scene.modes.modes["w"] = "off"
    run = Run(id=RunId(1), workflow="w", at=1, correlation="c", pane=scene.pane)
    with pytest.raises(NotDone, match="w is switched off") as raised:
        await scene.build_engine().step_runner.action_steps.run_action(
            ActionCall(wish=PressKeysRequest(keys=("C-c",))),
            StepExecution(run=run, step=RunStep(number=1, kind="act", at=1)),
        )
    assert (raised.value.details, scene.gate.executed) == ({"status": "denied", "why": "switched_off"}, [])
