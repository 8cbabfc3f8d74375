"""What a call means is decided from the journal alone."""

import pytest

from termvisor.clock import NS
from termvisor.errors import Diverged, NotDone, TimedOut
from termvisor.model.workflow.run import Step
from termvisor.workflows.calls import Act, Deed, Note, Nothing, Now, SendTo, WaitFor
from termvisor.workflows.engine.journal_replay import (
    END,
    Begun,
    End,
    Fresh,
    Known,
    error_text,
    given_of,
    kind_of,
    left_over,
    meet,
    name_of,
    spent,
    split,
    written,
)

SEND = Act(wish=SendTo(text="hello"))


def step(call, number=0, status="completed", came=None, **more) -> Step:
    text = written(came) if came is not None else more.pop("text", "")
    return Step(
        number=number,
        kind=kind_of(call),
        name=name_of(call),
        given=given_of(call),
        came=text,
        status=status,
        at=0,
        **more,
    )


def test_a_call_beyond_the_journal_is_new():
    assert meet([], 0, SEND) == Fresh(0)


def test_a_call_that_was_answered_gets_the_same_answer():
    found = meet([step(SEND, came=Deed(status="delivered"))], 0, SEND)
    assert found == Known(Deed(status="delivered"))


@pytest.mark.parametrize("status", ["running", "retry"])
def test_a_call_that_was_begun_is_found_out_about(status):
    assert isinstance(meet([step(SEND, status=status)], 0, SEND), Begun)


@pytest.mark.parametrize(
    "error", [NotDone("no", details={"status": "refused", "why": "reserved"}), TimedOut("too late")]
)
def test_a_call_that_failed_fails_in_the_same_words(error):
    found = meet([step(SEND, status="failed", text=error_text(error))], 0, SEND)
    assert isinstance(found, Known)
    assert type(found.error) is type(error)
    assert (found.error.message, found.error.details) == (error.message, error.details)


@pytest.mark.parametrize("other", [Act(wish=SendTo(text="other")), Note(text="hello"), Now()])
def test_another_call_in_its_place_is_a_divergence_that_names_the_step(other):
    with pytest.raises(Diverged, match="step 0 was act send") as told:
        meet([step(SEND, came=Deed(status="delivered"))], 0, other)
    assert told.value.details == {"step": 0}


def test_a_secret_in_a_call_is_kept_redacted_and_still_the_same_call():
    secret = Act(wish=SendTo(text="export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"))
    kept = step(secret, came=Deed(status="delivered"))
    assert "bPxRfiCY" not in kept.given
    assert isinstance(meet([kept], 0, secret), Known)


def test_an_answer_that_cannot_be_read_is_a_divergence():
    with pytest.raises(Diverged, match="cannot be read"):
        meet([step(Now(), text="[]")], 0, Now())


def test_a_run_that_ends_before_its_journal_does_diverged():
    steps = [step(Note(text="a"), came=Nothing())]
    assert left_over(steps, 1) is None
    assert "ended before step 0" in str(left_over(steps, 0))


def test_the_work_its_end_and_the_cleanup_are_told_apart():
    end = End(status="failed", why="no")
    last = Step(number=1, kind=END, came=written(end), status="completed", at=0)
    first, after = step(Now()), step(Note(text="tidy"), 2)
    assert split([first]) == ([first], None, [])
    assert split([first, last, after]) == ([first], end, [after])


def test_time_spent_is_that_of_work_and_not_of_waiting_for_people():
    worked = Step(number=0, kind="act", at=0, ended_at=3 * NS, status="completed")
    asked = Step(number=1, kind="ask_person", at=0, ended_at=500 * NS, status="completed")
    jumped = Step(number=2, kind="observe", at=9 * NS, ended_at=1 * NS, status="completed")
    assert spent([worked, asked, jumped]) == 3.0


def test_a_step_is_named_for_what_it_wants():
    assert (kind_of(SEND), name_of(SEND)) == ("act", "send")
    assert name_of(WaitFor(quiet=2.0)) == "quiet"
    assert given_of(WaitFor(text="x")) == '{"text":"x","type":"wait_for"}'
