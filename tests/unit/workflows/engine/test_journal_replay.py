"""Matching calls with the journal."""

import pytest

from termvisor.clock import NS
from termvisor.errors import Diverged, NotDone, TimedOut
from termvisor.model.workflow import RunStep
from termvisor.workflows.calls import ActionCall, ClockCall, NoteCall, SendTextRequest, WaitFor
from termvisor.workflows.engine.journal_replay import (
    END_STEP_KIND,
    InterruptedStep,
    RecordedStep,
    RunEnd,
    UnrecordedStep,
    describe_call,
    encode_error,
    encode_redacted,
    find_unreached_step,
    get_step_kind,
    match_step,
    split_journal,
    sum_work_seconds,
)
from termvisor.workflows.results import ActionStepResult, EmptyResult

SEND = ActionCall(wish=SendTextRequest(text="hello"))


def build_step(call, number=0, status="completed", came=None, **more) -> RunStep:
    text = encode_redacted(came) if came is not None else more.pop("text", "")
    return RunStep(
        number=number,
        kind=get_step_kind(call),
        name=describe_call(call),
        given=encode_redacted(call),
        came=text,
        status=status,
        at=0,
        **more,
    )


def test_a_call_beyond_the_journal_is_new():
    assert match_step([], 0, SEND) == UnrecordedStep(0)


def test_a_recorded_call_returns_its_recorded_result():
    found = match_step([build_step(SEND, came=ActionStepResult(status="delivered"))], 0, SEND)
    assert found == RecordedStep(ActionStepResult(status="delivered"))


@pytest.mark.parametrize("status", ["running", "retry"])
def test_a_started_call_without_a_result_is_interrupted(status):
    assert isinstance(match_step([build_step(SEND, status=status)], 0, SEND), InterruptedStep)


@pytest.mark.parametrize(
    "error", [NotDone("no", details={"status": "refused", "why": "reserved"}), TimedOut("too late")]
)
def test_a_failed_call_raises_the_same_error(error):
    found = match_step([build_step(SEND, status="failed", text=encode_error(error))], 0, SEND)
    assert isinstance(found, RecordedStep)
    assert type(found.error) is type(error)
    assert (found.error.message, found.error.details) == (error.message, error.details)


@pytest.mark.parametrize("other", [ActionCall(wish=SendTextRequest(text="other")), NoteCall(text="hello"), ClockCall()])
def test_a_different_call_is_a_divergence_that_names_the_step(other):
    with pytest.raises(Diverged, match="step 0 was act send") as error:
        match_step([build_step(SEND, came=ActionStepResult(status="delivered"))], 0, other)
    assert error.value.details == {"step": 0}


def test_a_redacted_secret_does_not_make_a_call_diverge():
    secret = ActionCall(
        wish=SendTextRequest(text="export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    )
    kept = build_step(secret, came=ActionStepResult(status="delivered"))
    assert "bPxRfiCY" not in kept.given
    assert isinstance(match_step([kept], 0, secret), RecordedStep)


def test_a_result_that_cannot_be_decoded_is_a_divergence():
    with pytest.raises(Diverged, match="cannot be decoded"):
        match_step([build_step(ClockCall(), text="[]")], 0, ClockCall())


def test_a_run_that_ends_before_its_journal_is_a_divergence():
    steps = [build_step(NoteCall(text="a"), came=EmptyResult())]
    assert find_unreached_step(steps, 1) is None
    assert "ended before step 0" in str(find_unreached_step(steps, 0))


def test_the_journal_is_split_into_work_end_and_cleanup():
    end = RunEnd(status="failed", why="no")
    last = RunStep(number=1, kind=END_STEP_KIND, came=encode_redacted(end), status="completed", at=0)
    first, after = build_step(ClockCall()), build_step(NoteCall(text="tidy"), 2)
    assert split_journal([first]) == ([first], None, [])
    assert split_journal([first, last, after]) == ([first], end, [after])


def test_waiting_for_people_is_not_work_time():
    worked = RunStep(number=0, kind="act", at=0, ended_at=3 * NS, status="completed")
    asked = RunStep(number=1, kind="ask_person", at=0, ended_at=500 * NS, status="completed")
    jumped = RunStep(number=2, kind="observe", at=9 * NS, ended_at=1 * NS, status="completed")
    assert sum_work_seconds([worked, asked, jumped]) == 3.0


def test_a_step_has_the_name_of_its_call():
    assert (get_step_kind(SEND), describe_call(SEND)) == ("act", "send")
    assert describe_call(WaitFor(quiet=2.0)) == "quiet"
    assert encode_redacted(WaitFor(text="x")) == '{"text":"x","type":"wait_for"}'
