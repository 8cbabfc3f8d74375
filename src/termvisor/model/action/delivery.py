"""Delivery of a text to a pane: its progress and outcome."""

from typing import Literal

from msgspec import Struct

from termvisor.model.ids import PaneId

DeliveryStep = Literal["typing", "typed", "submitting", "submitted"]
"""Each step is stored before it is executed: ``typing`` before the first byte, ``submitting`` before Enter."""

DeliveryStatus = Literal["delivered", "typed_not_submitted", "refused", "unknown"]
"""``unknown``: the outcome cannot be verified, and the delivery is not retried."""


class DeliveryRecord(Struct, frozen=True, kw_only=True):
    """``key`` is the idempotency key: a second call with it returns the first outcome, and nothing is typed twice."""

    key: str
    correlation: str
    pane: PaneId
    action_hash: str
    text_hash: str = ""
    """Keyed hash that recognizes the text on a screen; the text itself is not stored."""
    begun_at: int
    step: DeliveryStep = "typing"
    step_at: int = 0
    status: DeliveryStatus | None = None
    why: str = ""
