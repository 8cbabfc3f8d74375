"""A question to a person, as answers tell it."""

from typing import Any

from msgspec import Struct

from termvisor.clock import format_timestamp
from termvisor.model.action.action import Risk
from termvisor.model.action.approval import Approval, ApprovalState
from termvisor.ops.api.envelope import compute_seconds_between
from termvisor.ops.render.action_text import describe_action_fields, format_actor, redact_fields
from termvisor.ops.render.text import format_age, sanitize
from termvisor.redaction import redact


class ApprovalItem(Struct, frozen=True, kw_only=True):
    """``what`` is the action in words, ``action`` its fields, ``place`` where. ``answers`` of ``needs`` people allowed
    it. ``left`` are the seconds until it counts as a no; of a closed one there are none.
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


def build_approval_item(approval: Approval, now: int) -> ApprovalItem:
    return ApprovalItem(
        id=approval.id,
        state=approval.state,
        kind=approval.kind,
        risk=approval.risk,
        what=describe_action_fields(approval.kind, approval.shown),
        action=redact_fields(approval.shown),
        by=format_actor(approval.actor),
        pane=approval.pane,
        place=sanitize(redact(approval.place)),
        why=tuple(
            sanitize(redact(f"{reason.id}: {reason.text}" if reason.text else reason.id))
            for reason in approval.reasons
            if reason.answer != "allow"
        ),
        answers=sum(voice.answer == "allow" for voice in approval.voices),
        needs=approval.needs,
        asked_at=format_timestamp(approval.at),
        expires_at=format_timestamp(approval.expires_at),
        left=max(0.0, compute_seconds_between(now, approval.expires_at)) if approval.state == "open" else None,
        correlation=approval.correlation,
    )


def format_approval_lines(item: ApprovalItem) -> list[str]:
    """The whole question, for a person who is to answer it."""
    left = "" if item.left is None else f", {format_age(item.left)} left"
    two = f" ({item.answers} of {item.needs} people said yes)" if item.needs > 1 else ""
    return [
        f"{item.id}: {item.what}",
        f"   where  {item.place or ('no pane' if item.pane is None else f'pane {item.pane}')}",
        f"   who    {item.by}, risk {item.risk}",
        *(f"   why    {reason}" for reason in item.why),
        f"   state  {item.state}{left}{two}",
    ]
