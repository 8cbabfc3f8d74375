"""Match a workflow's call against its journal: already recorded, interrupted, or new. Pure.

Invariant: a call that differs from the recorded step at its position is never executed.
"""

from collections.abc import Iterable, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct

from termvisor.clock import NS
from termvisor.errors import Diverged, ErrorDetail, VisorError, list_error_classes
from termvisor.model.workflow import RunStatus, RunStep
from termvisor.redaction import redact_values
from termvisor.workflows import calls
from termvisor.workflows.results import CallResult

END_STEP_KIND = "end"
"""The step that records how the work ended. Later steps belong to the cleanup."""
_DIVERGED_HINT = "The workflow was changed without a new version, or uses data from outside its context."
# Calls are compared as text, so equal values must always be encoded the same way.
_ENCODE_JSON = msgspec.json.Encoder(order="deterministic").encode
# Reversed, so that the first listed (most general) of several classes with the same code wins.
_ERRORS_BY_CODE = {error.code: error for error in reversed(list_error_classes())}


class UnrecordedStep(Struct, frozen=True):
    """A step that is not in the journal, to be executed for the first time."""

    number: int


class InterruptedStep(Struct, frozen=True):
    """A step that was started but has no recorded outcome. Determine the outcome, then continue."""

    step: RunStep


class RecordedStep(Struct, frozen=True):
    """A completed or failed step, whose recorded result is returned again."""

    result: CallResult | None
    error: VisorError | None = None


class RunEnd(Struct, frozen=True, kw_only=True):
    """The final status of a run's work."""

    status: RunStatus
    why: str = ""


def match_step(
    steps: Sequence[RunStep], number: int, call: calls.WorkflowCall
) -> UnrecordedStep | InterruptedStep | RecordedStep:
    """Compare a call with the recorded step. Raises ``Diverged``, naming the step, if they differ."""
    if number >= len(steps):
        return UnrecordedStep(number)
    step = steps[number]
    kind, name, given = get_step_kind(call), describe_call(call), encode_redacted(call)
    # The redaction rules may have changed since, so redact the recorded text as it would be stored today.
    if (step.kind, step.name, _redact_again(step.given)) != (kind, name, given):
        raise Diverged(
            f"step {number} was {step.kind} {step.name} {step.given[:200]}, now it is {kind} {name} {given[:200]}",
            hint=_DIVERGED_HINT,
            details={"step": number},
        )
    # The daemon ended during the step, so look up its outcome instead of assuming one.
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
    """Return the work steps, how the work ended, and the cleanup steps."""
    end = next((number for number, step in enumerate(steps) if step.kind == END_STEP_KIND), None)
    if end is None:
        return list(steps), None, []
    return list(steps[:end]), msgspec.json.decode(steps[end].came, type=RunEnd), list(steps[end + 1 :])


def sum_work_seconds(steps: Iterable[RunStep]) -> float:
    """Return the recorded seconds of work, not counting waits for people or for a time."""
    work = (step for step in steps if step.kind not in (*calls.WAITING_STEP_KINDS, END_STEP_KIND))
    return sum(max(0, (step.ended_at or step.at) - step.at) for step in work) / NS


def get_step_kind(call: Struct) -> str:
    """Return the tag of a call, which is also the kind of its step."""
    return str(type(call).__struct_config__.tag)


def describe_call(call: calls.WorkflowCall) -> str:
    """Return the step's name in the run's history."""
    if isinstance(call, calls.ActionCall):
        request = call.wish or call.action
        return "" if request is None else get_step_kind(request)
    if isinstance(call, calls.WaitFor):
        return next((name for name in calls.WAIT_CONDITIONS if getattr(call, name)), "")
    return {calls.AskPersonCall: "question", calls.PauseCall: "plan", calls.NoteCall: "text"}.get(type(call), "")


def encode_redacted(value: Struct) -> str:
    """Encode a value as stored in the journal: JSON with all text redacted."""
    return _ENCODE_JSON(redact_values(msgspec.to_builtins(value))).decode()


def decode_result(call: calls.WorkflowCall, text: str) -> CallResult:
    return cast(CallResult, msgspec.json.decode(text, type=calls.RESULT_TYPES[type(call)]))


def encode_error(error: VisorError) -> str:
    fields = {"code": error.code, "message": error.message, "hint": error.hint, "details": error.details}
    return _ENCODE_JSON(redact_values(fields)).decode()


def decode_error(step: RunStep) -> VisorError:
    """Return the error of a failed step, as first raised in the workflow."""
    fields = cast("dict[str, Any]", msgspec.json.decode(step.came)) if step.came else {}
    details = cast("dict[str, ErrorDetail]", fields.get("details", {}))
    # An error code that no longer exists in this version becomes the base class.
    kind = _ERRORS_BY_CODE.get(str(fields.get("code")), VisorError)
    return kind(str(fields.get("message", step.why)), hint=str(fields.get("hint", "")) or None, details=details)


def _decode_step_result(call: calls.WorkflowCall, step: RunStep) -> CallResult:
    try:
        return decode_result(call, step.came)
    # A result from an older version, whose type has changed since.
    except msgspec.DecodeError as error:
        raise Diverged(f"the recorded result of step {step.number} cannot be decoded: {error}") from error


def _redact_again(given: str) -> str:
    try:
        return _ENCODE_JSON(redact_values(msgspec.json.decode(given))).decode()
    except msgspec.DecodeError:
        return given  # redaction may have broken the JSON; compare the text as it is
