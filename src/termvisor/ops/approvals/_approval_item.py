"""Build and format the item that operations return for an approval request."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.model.action.action import Risk
from termvisor.model.action.approval import Approval, ApprovalState, Permit
from termvisor.ops.render.action_text import describe_action_fields, format_actor, redact_fields
from termvisor.ops.render.results import compute_remaining, copy_fields
from termvisor.ops.render.text import format_age, sanitize
from termvisor.redaction import redact

ApprovalNumber = Annotated[
    int, Meta(description="The approval request's number in `visor inbox`.", extra={"positional": "one"}, ge=1)
]


class ApprovalItem(Struct, frozen=True, kw_only=True):
    """``what`` describes the action, ``action`` has its fields, ``place`` its pane. ``answers`` of the ``needs``
    required people approved it. ``left`` is the seconds until it expires, which denies it; null once it is closed.
    """

    id: int
    state: ApprovalState
    kind: str
    risk: Risk
    what: str
    action: dict[str, Any]
    by: str
    pane: int | None
    place: str
    why: tuple[str, ...]
    answers: int
    needs: int
    asked_at: str
    expires_at: str
    left: float | None
    correlation: str
    grants: tuple[str, ...] = ()
    """What `--session` would grant; empty if it can be approved once only."""
    after: int | None = None
    """The request that must be executed before this one."""


def build_approval_item(approval: Approval, now: int) -> ApprovalItem:
    return copy_fields(
        ApprovalItem,
        approval,
        what=describe_action_fields(approval.kind, approval.shown),
        action=redact_fields(approval.shown),
        by=format_actor(approval.actor),
        place=sanitize(redact(approval.place)),
        why=tuple(
            sanitize(redact(f"{reason.id}: {reason.text}" if reason.text else reason.id))
            for reason in approval.reasons
            # Reasons to allow the action do not explain why a person must decide.
            if reason.answer != "allow"
        ),
        answers=sum(vote.answer == "allow" for vote in approval.voices),
        asked_at=format_timestamp(approval.at),
        expires_at=format_timestamp(approval.expires_at),
        left=compute_remaining(approval.expires_at, now) if approval.state == "open" else None,
        grants=tuple(sanitize(redact(capability)) for capability in approval.capabilities),
    )


def describe_permit(permit: Permit) -> str:
    """Describe as `robot 1000 may run make, write /src/** in pane 7 (send_text) until 2026-…`."""
    scope = permit.scope
    name = f" ({scope.actor_name})" if scope.actor_name else ""
    where = "in all panes" if scope.pane is None else f"in pane {scope.pane}"
    what = ", ".join(scope.capabilities) or "nothing"
    until = format_timestamp(permit.expires_at)
    return sanitize(redact(f"{scope.actor_kind} {scope.uid}{name} may {what} {where} ({scope.kind}) until {until}"))


def format_approval_lines(item: ApprovalItem) -> list[str]:
    """Format the full request, for the person who answers it."""
    remaining = "" if item.left is None else f", {format_age(item.left)} left"
    votes = f" ({item.answers} of {item.needs} approvals)" if item.needs > 1 else ""
    return [
        f"{item.id}: {item.what}",
        f"   where  {item.place or ('no pane' if item.pane is None else f'pane {item.pane}')}",
        f"   who    {item.by}, risk {item.risk}",
        *(f"   why    {reason}" for reason in item.why),
        *([f"   grant  --session: {', '.join(item.grants)}"] if item.grants and item.state == "open" else []),
        f"   state  {item.state}{remaining}{votes}",
    ]


def format_answer(item: ApprovalItem) -> str:
    """Format as `request 3 approved: type 'make deploy'`."""
    return f"request {item.id} {'approved' if item.state == 'allowed' else item.state}: {item.what}"
