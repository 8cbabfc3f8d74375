"""A Send is a text on its way into a pane: how far it came, and what came of it."""

from typing import Literal

from msgspec import Struct

from termvisor.model.ids import PaneId

DeliveryStep = Literal["typing", "typed", "submitting", "submitted"]
"""Each is on record before it is taken: ``typing`` before the first byte, ``submitting`` before Enter."""

DeliveryStatus = Literal["delivered", "typed_not_submitted", "refused", "unknown"]
"""What came of it. ``unknown``: it cannot be proven, and it is not tried again."""


class DeliveryRecord(Struct, frozen=True, kw_only=True):
    """``key`` names it: who asks twice with the same key gets the first one's answer, and nothing is typed twice."""

    key: str
    correlation: str
    pane: PaneId
    action_hash: str
    text_hash: str = ""
    """By which the text is known again on a screen; keyed, because the text itself is not kept."""
    begun_at: int
    step: DeliveryStep = "typing"
    step_at: int = 0
    status: DeliveryStatus | None = None
    why: str = ""
