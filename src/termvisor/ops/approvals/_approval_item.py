"""Build and format the item that operations return for an approval request."""

from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct

from termvisor.clock import NS, format_timestamp
from termvisor.model.action.action import Risk
from termvisor.model.action.approval import NO_EXPIRY, Approval, ApprovalOutcome, ApprovalState, Permit
from termvisor.ops.render.action_text import describe_action_fields, describe_caller, format_actor
from termvisor.ops.render.results import compute_remaining, copy_fields
from termvisor.ops.render.text import format_age, sanitize
from termvisor.redaction import redact, redact_values

ApprovalNumber = Annotated[
    Annotated[int, Meta(ge=1)] | None,
    Meta(description="The approval request's number in `visor inbox`.", extra={"positional": "one"}),
]
RequestId = Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="The number, for programs.")]
UpToNumber = Annotated[
    Annotated[int, Meta(ge=1)] | None, Meta(description="With --all: the requests up to this number, without asking.")
]
# By code, how an answer was verified. Other outcomes have a text of their own, or only their code.
_OUTCOME_TEXTS = {
    "dialog_left": "answered; verified: the dialog has closed",
    "answered": "answered; verified by the agent's server",
    "hook_answered": "answered through the agent's hook",
    "still_shown": "not verified: the dialog is still shown",
    "not_confirmed": "not verified: the agent's server did not confirm it",
    "dialog_changed": "not answered: the dialog changed",
}


class ApprovalItem(Struct, frozen=True, kw_only=True):
    """``what`` describes the action, ``action`` has its fields, ``place`` its pane, ``folder`` its working folder.
    ``answers`` of the ``needs`` required people approved it. ``left`` is the seconds until it expires, which denies it;
    null once it is closed, and for a request that stays open as long as the agent's dialog is shown. ``count`` is how
    often it was asked while open. ``outcome`` is the status of the executed action, or `elsewhere` if the agent got its
    answer without this request; empty as long as nothing is known.
    """

    detail_fields: ClassVar[tuple[str, ...]] = ("action", "asked_at", "expires_at", "correlation")

    id: int
    state: ApprovalState
    kind: str
    risk: Risk
    what: str
    action: dict[str, Any]
    by: str
    pane: int | None
    place: str
    folder: str = ""
    why: tuple[str, ...]
    answers: int = 0
    needs: int = 1
    count: int = 1
    asked_at: str
    age: float
    expires_at: str | None
    left: float | None
    correlation: str
    grants: tuple[str, ...] = ()
    """What `--session` would grant; empty if it can be approved once only."""
    after: int | None = None
    """The request that must be executed before this one."""
    reason: str = ""
    """Why it was denied, in the person's words."""
    outcome: str = ""
    outcome_why: str = ""
    outcome_text: str = ""


def build_approval_item(approval: Approval, now: int, folder: str = "") -> ApprovalItem:
    has_expiry = approval.expires_at < NO_EXPIRY
    outcome = approval.outcome
    return copy_fields(
        ApprovalItem,
        approval,
        what=describe_action_fields(approval.kind, approval.shown),
        action=redact_values(approval.shown),
        by=format_actor(approval.actor),
        place=sanitize(redact(approval.place)),
        folder=sanitize(redact(str(approval.shown.get("cwd") or folder))),
        why=tuple(
            sanitize(redact(f"{reason.id}: {reason.text}" if reason.text else reason.id))
            for reason in approval.reasons
            # Reasons to allow the action do not explain why a person must decide.
            if reason.answer != "allow"
        ),
        answers=sum(vote.answer == "allow" for vote in approval.voices),
        asked_at=format_timestamp(approval.at),
        age=round(max(0, now - approval.at) / NS, 1),
        expires_at=format_timestamp(approval.expires_at) if has_expiry else None,
        left=compute_remaining(approval.expires_at, now) if approval.state == "open" and has_expiry else None,
        grants=tuple(sanitize(redact(capability)) for capability in approval.capabilities),
        outcome="" if outcome is None else outcome.status,
        outcome_why="" if outcome is None else outcome.why,
        outcome_text="" if outcome is None else sanitize(redact(_describe_outcome(outcome))),
    )


def _describe_outcome(outcome: ApprovalOutcome) -> str:
    text = outcome.text or _OUTCOME_TEXTS.get(outcome.why, "")
    return text or (f"{outcome.status} ({outcome.why})" if outcome.why else outcome.status)


def describe_permit(permit: Permit) -> str:
    """Describe as `robot 1000 may run make, write /src/** in pane 7 (send_text) for 8h, until 2026-…`."""
    scope = permit.scope
    name = f" ({scope.actor_name})" if scope.actor_name else ""
    where = "in all panes" if scope.pane is None else f"in pane {scope.pane}"
    what = ", ".join(map(_describe_capability, scope.capabilities)) or "nothing"
    until = f"for {format_age((permit.expires_at - permit.at) / NS)}, until {format_timestamp(permit.expires_at)}"
    return sanitize(redact(f"{scope.actor_kind} {scope.uid}{name} may {what} {where} ({scope.kind}) {until}"))


def _describe_capability(capability: str) -> str:
    category = capability.removeprefix("category ")
    return capability if category == capability else f"do everything of the kind {category}"


def format_approval_lines(item: ApprovalItem) -> list[str]:
    """Format the full request, for the person who answers it."""
    is_open = item.state == "open"
    until = ", as long as the dialog is shown" if item.expires_at is None else ""
    remaining = until if item.left is None else f", {format_age(item.left)} left"
    votes = f" ({item.answers} of {item.needs} approvals)" if item.needs > 1 else ""
    asked = f" (asked {item.count} times)" if item.count > 1 else ""
    return [
        f"{item.id}: {item.what}{asked}",
        f"   where  {item.place or ('no pane' if item.pane is None else f'pane {item.pane}')}",
        *([f"   folder {item.folder}"] if item.folder else []),
        f"   who    {describe_caller(item.by)}, risk {item.risk}",
        *(f"   why    {reason}" for reason in item.why),
        *([f"   grant  --session: {', '.join(item.grants)}"] if item.grants and is_open else []),
        f"   state  {format_state(item)}{remaining if is_open else ''}{votes}",
    ]


def format_state(item: ApprovalItem) -> str:
    """Format as `denied: use make test; answered; verified: the dialog has closed`."""
    reason = f": {item.reason}" if item.reason else ""
    return sanitize(f"{item.state}{reason}{f'; {item.outcome_text}' if item.outcome_text else ''}")


def format_answer(item: ApprovalItem) -> str:
    """Format as `request 3 approved: type 'make deploy'`, with the outcome."""
    answer = "approved" if item.state in ("allowed", "used") else item.state
    outcome = f"\n  {item.outcome_text}" if item.outcome_text else ""
    return f"request {item.id} {answer}: {item.what}{outcome}"
