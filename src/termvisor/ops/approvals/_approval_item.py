"""A question to a person, as answers tell it."""

from typing import Any

from msgspec import Struct

from termvisor.clock import iso
from termvisor.model.action.action import Risk
from termvisor.model.action.approval import Approval, ApprovalState
from termvisor.ops.api.envelope import seconds_between
from termvisor.ops.render.action_text import described, masked, who
from termvisor.ops.render.text import age, clean
from termvisor.redaction import redact


class Asked(Struct, frozen=True, kw_only=True):
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


def told(approval: Approval, now: int) -> Asked:
    return Asked(
        id=approval.id,
        state=approval.state,
        kind=approval.kind,
        risk=approval.risk,
        what=described(approval.kind, approval.shown),
        action=masked(approval.shown),
        by=who(approval.actor),
        pane=approval.pane,
        place=clean(redact(approval.place)),
        why=tuple(
            clean(redact(f"{reason.id}: {reason.text}" if reason.text else reason.id))
            for reason in approval.reasons
            if reason.answer != "allow"
        ),
        answers=sum(voice.answer == "allow" for voice in approval.voices),
        needs=approval.needs,
        asked_at=iso(approval.at),
        expires_at=iso(approval.expires_at),
        left=max(0.0, seconds_between(now, approval.expires_at)) if approval.state == "open" else None,
        correlation=approval.correlation,
    )


def lines(asked: Asked) -> list[str]:
    """The whole question, for a person who is to answer it."""
    left = "" if asked.left is None else f", {age(asked.left)} left"
    two = f" ({asked.answers} of {asked.needs} people said yes)" if asked.needs > 1 else ""
    return [
        f"{asked.id}: {asked.what}",
        f"   where  {asked.place or ('no pane' if asked.pane is None else f'pane {asked.pane}')}",
        f"   who    {asked.by}, risk {asked.risk}",
        *(f"   why    {reason}" for reason in asked.why),
        f"   state  {asked.state}{left}{two}",
    ]
