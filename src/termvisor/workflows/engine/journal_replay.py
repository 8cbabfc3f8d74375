"""What a call means, decided from the journal alone: it was answered before, was begun, or is new. Pure.

Invariant: a call that does not fit the step that stands in its place is never carried out.
"""

from collections.abc import Iterable, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct

from termvisor.clock import NS
from termvisor.errors import Detail, Diverged, VisorError, all_errors
from termvisor.model.workflow.run import RunStatus, Step
from termvisor.redaction import redact
from termvisor.workflows.calls import AWAITED, COMES, RESTING, Act, Ask, Call, Came, Note, Pause, WaitFor

END = "end"
"""The step that says how the work ended; what follows it is the cleanup's."""
_ENCODE = msgspec.json.Encoder(order="deterministic").encode
_ERRORS = {error.code: error for error in reversed(all_errors())}


class Fresh(Struct, frozen=True):
    """The journal knows nothing of it: it is done for the first time."""

    number: int


class Begun(Struct, frozen=True):
    """It was begun, and what came of it is not on record: find that out, then go on."""

    step: Step


class Known(Struct, frozen=True):
    """It was answered; the answer holds."""

    came: Came | None
    error: VisorError | None = None


class End(Struct, frozen=True, kw_only=True):
    """How a run's work ended."""

    status: RunStatus
    why: str = ""


def meet(steps: Sequence[Step], number: int, call: Call) -> Fresh | Begun | Known:
    """Raises ``Diverged``, which names the step, when the run asks for something else than it did before."""
    if number >= len(steps):
        return Fresh(number)
    step = steps[number]
    kind, name, given = kind_of(call), name_of(call), given_of(call)
    # What is a secret may be set anew between two lives: the old text is compared as it would be kept today.
    if (step.kind, step.name, _again(step.given)) != (kind, name, given):
        raise Diverged(
            f"step {number} was {step.kind} {step.name} {step.given[:200]}, and now it is {kind} {name} {given[:200]}",
            hint="The workflow was changed without a new version, or takes something from outside its context.",
            details={"step": number},
        )
    if step.status in ("running", "retry"):
        return Begun(step)
    if step.status == "completed":
        return Known(_came(call, step))
    return Known(None, error_of(step))


def left_over(steps: Sequence[Step], number: int) -> Diverged | None:
    """The work is over; every step that is on record must have been met."""
    if number >= len(steps):
        return None
    step = steps[number]
    return Diverged(
        f"the run ended before step {number}, which was {step.kind} {step.name}",
        hint="The workflow was changed without a new version, or takes something from outside its context.",
        details={"step": number},
    )


def split(steps: Sequence[Step]) -> tuple[list[Step], End | None, list[Step]]:
    """The steps of the work, how it ended, and the steps of the cleanup."""
    place = next((number for number, step in enumerate(steps) if step.kind == END), None)
    if place is None:
        return list(steps), None, []
    return list(steps[:place]), msgspec.json.decode(steps[place].came, type=End), list(steps[place + 1 :])


def spent(steps: Iterable[Step]) -> float:
    """Seconds of work that the journal tells of; waiting for people and for a time is none."""
    worked = (step for step in steps if step.kind not in (*RESTING, END) and step.ended_at is not None)
    return sum(max(0, (step.ended_at or step.at) - step.at) for step in worked) / NS


def kind_of(call: Call) -> str:
    return tag_of(call)


def tag_of(value: Struct | None) -> str:
    return "" if value is None else str(type(value).__struct_config__.tag)


def name_of(call: Call) -> str:
    """What a person reads first."""
    if isinstance(call, Act):
        return tag_of(call.wish or call.action)
    if isinstance(call, WaitFor):
        return next((name for name in AWAITED if getattr(call, name)), "")
    return {Ask: "question", Pause: "plan", Note: "text"}.get(type(call), "")


def given_of(call: Call) -> str:
    return written(call)


def written(value: Struct) -> str:
    """As the journal keeps it: JSON, every text in it redacted."""
    return _ENCODE(masked(msgspec.to_builtins(value))).decode()


def masked(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list | tuple):
        return [masked(one) for one in value]
    if isinstance(value, dict):
        return {redact(str(name)): masked(one) for name, one in value.items()}
    return value


def read(call: Call, text: str) -> Came:
    return cast(Came, msgspec.json.decode(text, type=COMES[type(call)]))


def error_text(error: VisorError) -> str:
    told = {"code": error.code, "message": error.message, "hint": error.hint, "details": error.details}
    return _ENCODE(masked(told)).decode()


def error_of(step: Step) -> VisorError:
    """The error that a step ended with, as the workflow saw it then."""
    told = cast("dict[str, Any]", msgspec.json.decode(step.came)) if step.came else {}
    details = cast("dict[str, Detail]", told.get("details", {}))
    kind = _ERRORS.get(str(told.get("code")), VisorError)
    return kind(str(told.get("message", step.why)), hint=str(told.get("hint", "")) or None, details=details)


def _came(call: Call, step: Step) -> Came:
    try:
        return read(call, step.came)
    except msgspec.DecodeError as error:
        raise Diverged(f"what came of step {step.number} cannot be read: {error}") from error


def _again(given: str) -> str:
    try:
        return _ENCODE(masked(msgspec.json.decode(given))).decode()
    except msgspec.DecodeError:
        return given
