"""What was asked for and done at some time, for tests of how long it is kept."""

from msgspec.structs import replace

from termvisor.model.action.approval import Approval, Permit, Reservation, Scope, Voice
from termvisor.model.action.delivery import Send
from termvisor.model.ids import PaneId
from termvisor.store import Store
from tests.unit.store.tables.test_approvals import QUESTION
from tests.unit.store.tables.test_audit import entry


async def sent(store: Store, pane: PaneId, at: int, *, ended_at: int | None = None) -> Send:
    """With the key ``key-<at>``; without an end it is still on its way."""
    send = Send(key=f"key-{at}", correlation=f"c{at}", pane=pane, action_hash="h", begun_at=at)
    await store.sends.begin(send, entry(at, pane=pane))
    if ended_at is not None:
        await store.sends.end(send.key, "delivered", "", entry(ended_at, pane=pane, stage="outcome"))
    return send


async def asked(store: Store, pane: PaneId, at: int, *, expires_at: int, said: str = "") -> Approval:
    question = replace(QUESTION, at=at, expires_at=expires_at, pane=pane, action_hash=f"h{at}")
    stored = await store.approvals.ask(question, entry(at, pane=pane, stage="asked"))
    if said:
        await store.approvals.answer(stored.id, Voice("ann", said, at), entry(at, pane=pane, stage="answered"))
    return stored


async def permitted(store: Store, at: int, *, expires_at: int, revoked_at: int | None = None) -> Permit:
    scope = Scope(kind="kill", actor_kind="robot", uid=1000)
    permit = await store.permits.add(Permit(at=at, expires_at=expires_at, scope=scope, who="ann"))
    if revoked_at is not None:
        await store.permits.revoke(permit.id, revoked_at)
    return permit


async def held(store: Store, pane: PaneId, at: int, *, expires_at: int, released_at: int | None = None) -> Reservation:
    reservation = await store.reservations.hold(Reservation(pane=pane, owner="me", at=at, expires_at=expires_at))
    if released_at is not None:
        await store.reservations.release(reservation.id, released_at)
    return reservation
