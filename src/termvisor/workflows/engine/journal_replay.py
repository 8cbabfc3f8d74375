"""Match a workflow's call with its journal: already recorded, interrupted, or new. Pure.

Invariant: a call that differs from the recorded step at its position is never executed.
"""

from collections.abc import Iterable, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct

from termvisor.clock import NS
from termvisor.errors import Diverged, ErrorDetail, VisorError, list_error_classes
from termvisor.model.workflow import RunStatus, RunStep
from termvisor.redaction import redact
from termvisor.workflows.calls import (
    RESULT_TYPES,
    WAIT_CONDITIONS,
    WAITING_STEP_KINDS,
    ActionCall,
    AskPersonCall,
    NoteCall,
    PauseCall,
    WaitFor,
    WorkflowCall,
)
from termvisor.workflows.results import CallResult

END_STEP_KIND = "end"
"""The step that records how the work ended; the steps after it belong to the cleanup."""
_DIVERGED_HINT = "The workflow was changed without a new version, or uses data from outside its context."
# Calls are compared by their text, so equal values must always be encoded equally.
_ENCODE_JSON = msgspec.json.Encoder(order="deterministic").encode
# Reversed, so that of several classes with one code the most general one, listed first, is used.
_ERRORS_BY_CODE = {error.code: error for error in reversed(list_error_classes())}


class UnrecordedStep(Struct, frozen=True):
    """Not in the journal: executed for the first time."""

    number: int


class InterruptedStep(Struct, frozen=True):
    """Started, but without a recorded outcome: determine the outcome, then continue."""

    step: RunStep


class RecordedStep(Struct, frozen=True):
    """Completed or failed: the recorded result is returned again."""

    result: CallResult | None
    error: VisorError | None = None


class RunEnd(Struct, frozen=True, kw_only=True):
    """The final status of a run's work."""

    status: RunStatus
    why: str = ""


def match_step(
    steps: Sequence[RunStep], number: int, call: WorkflowCall
) -> UnrecordedStep | InterruptedStep | RecordedStep:
    """Compare a call with the recorded step. Raises ``Diverged``, naming the step, if they differ."""
    if number >= len(steps):
        return UnrecordedStep(number)
    step = steps[number]
    kind, name, given = get_step_kind(call), describe_call(call), encode_redacted(call)
    # The redaction rules may have changed since: the recorded text is compared as it would be stored today.
    if (step.kind, step.name, _redact_again(step.given)) != (kind, name, given):
        raise Diverged(
            f"step {number} was {step.kind} {step.name} {step.given[:200]}, now it is {kind} {name} {given[:200]}",
            hint=_DIVERGED_HINT,
            details={"step": number},
        )
    # The daemon ended while the step was executed: its outcome is looked up, not assumed.
    if step.status in ("running", "retry"):
        return InterruptedStep(step)
    if step.status == "completed":
        return RecordedStep(_decode_step_result(call, step))
    return RecordedStep(None, decode_error(step))


def find_unreached_step(steps: Sequence[RunStep], number: int) -> Diverged | None:
    """Return the error if the work ended before all recorded steps were reached."""
    if number >= len(steps):
        return None
    step = steps[number]
    return Diverged(
        f"the run ended before step {number}, which was {step.kind} {step.name}",
        hint=_DIVERGED_HINT,
        details={"step": number},
    )


def split_journal(steps: Sequence[RunStep]) -> tuple[list[RunStep], RunEnd | None, list[RunStep]]:
    """Return the steps of the work, how it ended, and the steps of the cleanup."""
    end = next((number for number, step in enumerate(steps) if step.kind == END_STEP_KIND), None)
    if end is None:
        return list(steps), None, []
    return list(steps[:end]), msgspec.json.decode(steps[end].came, type=RunEnd), list(steps[end + 1 :])


def sum_work_seconds(steps: Iterable[RunStep]) -> float:
    """Return the recorded seconds of work; waiting for people or for a time does not count."""
    work = (step for step in steps if step.kind not in (*WAITING_STEP_KINDS, END_STEP_KIND))
    return sum(max(0, (step.ended_at or step.at) - step.at) for step in work) / NS


def get_step_kind(call: Struct) -> str:
    """Return the tag of a call, which is the kind of its step."""
    return str(type(call).__struct_config__.tag)


def describe_call(call: WorkflowCall) -> str:
    """Return the step's name in the run's history."""
    if isinstance(call, ActionCall):
        request = call.wish or call.action
        return "" if request is None else get_step_kind(request)
    if isinstance(call, WaitFor):
        return next((name for name in WAIT_CONDITIONS if getattr(call, name)), "")
    return {AskPersonCall: "question", PauseCall: "plan", NoteCall: "text"}.get(type(call), "")


def encode_redacted(value: Struct) -> str:
    """Encode a value as the journal stores it: JSON with every text redacted."""
    return _ENCODE_JSON(redact_values(msgspec.to_builtins(value))).decode()


def redact_values(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list | tuple):
        return [redact_values(item) for item in value]
    if isinstance(value, dict):
        return {redact(str(name)): redact_values(item) for name, item in value.items()}
    return value


def decode_result(call: WorkflowCall, text: str) -> CallResult:
    return cast(CallResult, msgspec.json.decode(text, type=RESULT_TYPES[type(call)]))


def encode_error(error: VisorError) -> str:
    fields = {"code": error.code, "message": error.message, "hint": error.hint, "details": error.details}
    return _ENCODE_JSON(redact_values(fields)).decode()


def decode_error(step: RunStep) -> VisorError:
    """Return the error of a failed step as the workflow got it the first time."""
    fields = cast("dict[str, Any]", msgspec.json.decode(step.came)) if step.came else {}
    details = cast("dict[str, ErrorDetail]", fields.get("details", {}))
    # A code of another version that no longer exists becomes the base class.
    kind = _ERRORS_BY_CODE.get(str(fields.get("code")), VisorError)
    return kind(str(fields.get("message", step.why)), hint=str(fields.get("hint", "")) or None, details=details)


def _decode_step_result(call: WorkflowCall, step: RunStep) -> CallResult:
    try:
        return decode_result(call, step.came)
    # A result of an older version whose type has changed since.
    except msgspec.DecodeError as error:
        raise Diverged(f"the recorded result of step {step.number} cannot be decoded: {error}") from error


def _redact_again(given: str) -> str:
    try:
        return _ENCODE_JSON(redact_values(msgspec.json.decode(given))).decode()
    except msgspec.DecodeError:
        return given  # redaction may have cut the JSON; compare the text as it is
