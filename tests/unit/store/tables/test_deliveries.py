"""A delivery begins once for its key, advances in steps, and ends once."""

import pytest
from msgspec.structs import replace

from termvisor.model.action.outcome import DeliveryRecord
from tests.unit.store.tables.test_audit import build_entry


@pytest.fixture
async def pane(new_pane):
    return await new_pane()


async def begin_delivery(store, pane, key: str = "k") -> DeliveryRecord:
    send = DeliveryRecord(key=key, correlation="c", pane=pane, action_hash="h", begun_at=5)
    assert await store.deliveries.begin(send, build_entry(5)) is None
    return send


async def test_repeated_key_returns_the_first_delivery(store, pane):
    send = await begin_delivery(store, pane)
    again = await store.deliveries.begin(replace(send, begun_at=9), build_entry(9))
    assert again == replace(send, step_at=5)
    assert [one.at for one in await store.audit.list()] == [5]


async def test_steps_are_recorded_until_the_outcome(store, pane):
    await begin_delivery(store, pane)
    await store.deliveries.record_step("k", "submitting", 6)
    assert [(one.step, one.step_at, one.status) for one in await store.deliveries.list_open()] == [
        ("submitting", 6, None)
    ]
    await store.deliveries.end("k", "delivered", "seen to leave", build_entry(7, stage="outcome"))
    assert await store.deliveries.list_open() == []
    done = await store.deliveries.find_by_key("k")
    assert done is not None and (done.status, done.why) == ("delivered", "seen to leave")


async def test_outcome_is_final(store, pane):
    await begin_delivery(store, pane)
    await store.deliveries.end("k", "unknown", "", build_entry(7, stage="outcome"))
    await store.deliveries.end("k", "delivered", "", build_entry(8, stage="outcome"))
    await store.deliveries.record_step("k", "submitting", 9)
    done = await store.deliveries.find_by_key("k")
    assert done is not None and (done.status, done.step) == ("unknown", "typing")
    assert [one.at for one in await store.audit.list()] == [5, 7]


async def test_unknown_key_is_not_found(store):
    assert await store.deliveries.find_by_key("nobody") is None


async def test_a_delivery_is_stored_whole_and_found_by_its_action(store, pane):
    send = DeliveryRecord(key="k", correlation="c", pane=pane, action_hash="h", text_hash="t", begun_at=5)
    assert await store.deliveries.begin(send, build_entry(5)) is None
    begun = replace(send, step_at=5)
    assert await store.deliveries.list_open() == [begun]
    assert await store.deliveries.find_by_correlation("c") == begun
    assert await store.deliveries.find_by_correlation("other") is None
    await store.deliveries.end("k", "delivered", "seen", build_entry(7, stage="outcome"))
    assert await store.deliveries.find_by_key("k") == replace(begun, step_at=7, status="delivered", why="seen")
