"""A pane has one active reservation at a time."""

from msgspec.structs import replace

from termvisor.clock import SystemClock
from termvisor.model.action.approval import Reservation
from termvisor.store import Store
from tests.unit.store.tables.test_panes import FACTS, PANE


async def test_a_pane_is_reserved_until_release_or_expiry(store, new_pane):
    pane = await new_pane()
    mine = await store.reservations.hold(Reservation(pane=pane, owner="me", at=10, expires_at=50))
    assert await store.reservations.find_for_pane(pane, 20) == mine
    assert await store.reservations.list(20) == [mine]
    assert (await store.reservations.hold(Reservation(pane=pane, owner="you", at=20, expires_at=60))).owner == "me"
    assert await store.reservations.find_for_pane(pane, 50) is None
    yours = await store.reservations.hold(Reservation(pane=pane, owner="you", at=50, expires_at=60))
    assert yours.owner == "you"
    assert await store.reservations.release(yours.id, 55)
    assert not await store.reservations.release(yours.id, 56)
    assert await store.reservations.find_for_pane(pane, 56) is None


async def test_its_owner_can_extend_the_reservation(store, new_pane):
    pane = await new_pane()
    first = await store.reservations.hold(Reservation(pane=pane, owner="me", at=10, expires_at=50))
    longer = await store.reservations.hold(Reservation(pane=pane, owner="me", at=20, expires_at=90))
    assert (longer.id, longer.expires_at) == (first.id, 90)


async def test_stored_and_new_reservations_are_found_after_a_restart(tmp_path):
    path = str(tmp_path / "visor.db")
    store = await Store.open(path, SystemClock())
    pane, _ = await store.panes.find_or_add(PANE, FACTS, at=1)
    await store.reservations.hold(Reservation(pane=pane, owner="me", at=10, expires_at=50))
    await store.close()
    store = await Store.open(path, SystemClock())
    assert (await store.reservations.find_for_pane(pane, 20)).owner == "me"
    assert await store.reservations.find_for_pane(pane, 50) is None
    await store.reservations.hold(Reservation(pane=pane, owner="you", at=60, expires_at=90))
    assert (await store.reservations.find_for_pane(pane, 70)).owner == "you"
    await store.close()


async def test_a_reservation_is_stored_whole_and_never_shortened(store, new_pane):
    pane, other = await new_pane("%1"), await new_pane("%2")
    mine = Reservation(id=1, pane=pane, owner="me", at=10, expires_at=50)
    assert await store.reservations.hold(replace(mine, id=0)) == mine
    assert await store.reservations.hold(replace(mine, id=0, at=20, expires_at=30)) == mine
    assert await store.reservations.hold(replace(mine, id=0, owner="you", at=20, expires_at=90)) == mine
    assert await store.reservations.list(49) == [mine]
    assert await store.reservations.list(50) == []
    assert await store.reservations.find_for_pane(other, 20) is None


async def test_a_later_reservation_of_another_pane_is_found_too(store, new_pane):
    pane, other = await new_pane("%1"), await new_pane("%2")
    assert await store.reservations.find_for_pane(pane, 5) is None
    for one, until in ((pane, 90), (other, 50)):
        await store.reservations.hold(Reservation(pane=one, owner="me", at=10, expires_at=until))
    assert (await store.reservations.find_for_pane(pane, 89)).pane == pane
    assert await store.reservations.find_for_pane(pane, 90) is None
