"""Approvals, permits, reservations and deliveries at given times, for retention tests."""

from msgspec.structs import replace

from termvisor.model.action.approval import Approval, ApprovalVote, Permit, PermitScope, Reservation
from termvisor.model.action.outcome import DeliveryRecord
from termvisor.model.ids import PaneId
from termvisor.store import Store
from tests.unit.store.tables.test_approvals import QUESTION
from tests.unit.store.tables.test_audit import build_entry


async def add_delivery(store: Store, pane: PaneId, at: int, *, ended_at: int | None = None) -> DeliveryRecord:
    """Add a delivery with the key ``key-<at>``; without an end it is still open."""
    send = DeliveryRecord(key=f"key-{at}", correlation=f"c{at}", pane=pane, action_hash="h", begun_at=at)
    await store.deliveries.begin(send, build_entry(at, pane=pane))
    if ended_at is not None:
        await store.deliveries.end(send.key, "delivered", "", build_entry(ended_at, pane=pane, stage="outcome"))
    return send


async def add_approval(store: Store, pane: PaneId, at: int, *, expires_at: int, answer: str = "") -> Approval:
    question = replace(QUESTION, at=at, expires_at=expires_at, pane=pane, action_hash=f"h{at}")
    stored = await store.approvals.add_request(question, build_entry(at, pane=pane, stage="asked"))
    if answer:
        await store.approvals.answer(
            stored.id, ApprovalVote("ann", answer, at), build_entry(at, pane=pane, stage="answered")
        )
    return stored


async def add_permit(store: Store, at: int, *, expires_at: int, revoked_at: int | None = None) -> Permit:
    scope = PermitScope(kind="kill", actor_kind="robot", uid=1000)
    permit = await store.permits.add(Permit(at=at, expires_at=expires_at, scope=scope, who="ann"))
    if revoked_at is not None:
        await store.permits.revoke(permit.id, revoked_at)
    return permit


async def add_reservation(
    store: Store, pane: PaneId, at: int, *, expires_at: int, released_at: int | None = None
) -> Reservation:
    reservation = await store.reservations.hold(Reservation(pane=pane, owner="me", at=at, expires_at=expires_at))
    if released_at is not None:
        await store.reservations.release(reservation.id, released_at)
    return reservation
