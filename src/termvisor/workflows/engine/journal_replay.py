"""What a call means, decided from the journal alone: it was answered before, was begun, or is new. Pure.

Invariant: a call that does not fit the step that stands in its place is never carried out.
"""

from collections.abc import Iterable, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct

from termvisor.clock import NS
from termvisor.errors import Diverged, ErrorDetail, VisorError, list_error_classes
from termvisor.model.workflow.run import RunStatus, RunStep
from termvisor.redaction import redact
from termvisor.workflows.calls import (
    RESULT_TYPES,
    WAIT_CONDITIONS,
    WAITING_STEP_KINDS,
    ActionCall,
    AskPersonCall,
    CallResult,
    NoteCall,
    PauseCall,
    WaitFor,
    WorkflowCall,
)

END_STEP_KIND = "end"
"""The step that says how the work ended; what follows it is the cleanup's."""
_ENCODE_JSON = msgspec.json.Encoder(order="deterministic").encode
_ERRORS_BY_CODE = {error.code: error for error in reversed(list_error_classes())}


class UnrecordedStep(Struct, frozen=True):
    """The journal knows nothing of it: it is done for the first time."""

    number: int


class InterruptedStep(Struct, frozen=True):
    """It was begun, and what came of it is not on record: find that out, then go on."""

    step: RunStep


class RecordedStep(Struct, frozen=True):
    """It was answered; the answer holds."""

    result: CallResult | None
    error: VisorError | None = None


class RunEnd(Struct, frozen=True, kw_only=True):
    """How a run's work ended."""

    status: RunStatus
    why: str = ""


def match_step(
    steps: Sequence[RunStep], number: int, call: WorkflowCall
) -> UnrecordedStep | InterruptedStep | RecordedStep:
    """Raises ``Diverged``, which names the step, when the run asks for something else than it did before."""
    if number >= len(steps):
        return UnrecordedStep(number)
    step = steps[number]
    kind, name, given = get_step_kind(call), describe_call(call), encode_call(call)
    # What is a secret may be set anew between two lives: the old text is compared as it would be kept today.
    if (step.kind, step.name, _redact_again(step.given)) != (kind, name, given):
        raise Diverged(
            f"step {number} was {step.kind} {step.name} {step.given[:200]}, and now it is {kind} {name} {given[:200]}",
            hint="The workflow was changed without a new version, or takes something from outside its context.",
            details={"step": number},
        )
    if step.status in ("running", "retry"):
        return InterruptedStep(step)
    if step.status == "completed":
        return RecordedStep(_decode_step_result(call, step))
    return RecordedStep(None, decode_error(step))


def find_unreached_step(steps: Sequence[RunStep], number: int) -> Diverged | None:
    """The work is over; every step that is on record must have been met."""
    if number >= len(steps):
        return None
    step = steps[number]
    return Diverged(
        f"the run ended before step {number}, which was {step.kind} {step.name}",
        hint="The workflow was changed without a new version, or takes something from outside its context.",
        details={"step": number},
    )


def split_journal(steps: Sequence[RunStep]) -> tuple[list[RunStep], RunEnd | None, list[RunStep]]:
    """The steps of the work, how it ended, and the steps of the cleanup."""
    place = next((number for number, step in enumerate(steps) if step.kind == END_STEP_KIND), None)
    if place is None:
        return list(steps), None, []
    return list(steps[:place]), msgspec.json.decode(steps[place].came, type=RunEnd), list(steps[place + 1 :])


def sum_work_seconds(steps: Iterable[RunStep]) -> float:
    """Seconds of work that the journal tells of; waiting for people and for a time is none."""
    worked = (
        step for step in steps if step.kind not in (*WAITING_STEP_KINDS, END_STEP_KIND) and step.ended_at is not None
    )
    return sum(max(0, (step.ended_at or step.at) - step.at) for step in worked) / NS


def get_step_kind(call: WorkflowCall) -> str:
    return get_tag(call)


def get_tag(value: Struct | None) -> str:
    return "" if value is None else str(type(value).__struct_config__.tag)


def describe_call(call: WorkflowCall) -> str:
    """What a person reads first."""
    if isinstance(call, ActionCall):
        return get_tag(call.wish or call.action)
    if isinstance(call, WaitFor):
        return next((name for name in WAIT_CONDITIONS if getattr(call, name)), "")
    return {AskPersonCall: "question", PauseCall: "plan", NoteCall: "text"}.get(type(call), "")


def encode_call(call: WorkflowCall) -> str:
    return encode_redacted(call)


def encode_redacted(value: Struct) -> str:
    """As the journal keeps it: JSON, every text in it redacted."""
    return _ENCODE_JSON(redact_values(msgspec.to_builtins(value))).decode()


def redact_values(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list | tuple):
        return [redact_values(one) for one in value]
    if isinstance(value, dict):
        return {redact(str(name)): redact_values(one) for name, one in value.items()}
    return value


def decode_result(call: WorkflowCall, text: str) -> CallResult:
    return cast(CallResult, msgspec.json.decode(text, type=RESULT_TYPES[type(call)]))


def encode_error(error: VisorError) -> str:
    told = {"code": error.code, "message": error.message, "hint": error.hint, "details": error.details}
    return _ENCODE_JSON(redact_values(told)).decode()


def decode_error(step: RunStep) -> VisorError:
    """The error that a step ended with, as the workflow saw it then."""
    told = cast("dict[str, Any]", msgspec.json.decode(step.came)) if step.came else {}
    details = cast("dict[str, ErrorDetail]", told.get("details", {}))
    kind = _ERRORS_BY_CODE.get(str(told.get("code")), VisorError)
    return kind(str(told.get("message", step.why)), hint=str(told.get("hint", "")) or None, details=details)


def _decode_step_result(call: WorkflowCall, step: RunStep) -> CallResult:
    try:
        return decode_result(call, step.came)
    except msgspec.DecodeError as error:
        raise Diverged(f"what came of step {step.number} cannot be read: {error}") from error


def _redact_again(given: str) -> str:
    try:
        return _ENCODE_JSON(redact_values(msgspec.json.decode(given))).decode()
    except msgspec.DecodeError:
        return given
