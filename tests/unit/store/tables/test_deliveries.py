"""A send is begun once for its key, goes on step by step, and ends once."""

import pytest
from msgspec.structs import replace

from termvisor.model.action.delivery import Send
from tests.unit.store.tables.test_audit import entry


@pytest.fixture
async def pane(new_pane):
    return await new_pane()


async def begun(store, pane, key: str = "k") -> Send:
    send = Send(key=key, correlation="c", pane=pane, action_hash="h", begun_at=5)
    assert await store.sends.begin(send, entry(5)) is None
    return send


async def test_a_key_begins_once_and_is_answered_with_what_it_began(store, pane):
    send = await begun(store, pane)
    again = await store.sends.begin(replace(send, begun_at=9), entry(9))
    assert again == replace(send, step_at=5)
    assert [one.at for one in await store.audit.list()] == [5]


async def test_steps_are_kept_until_it_ends(store, pane):
    await begun(store, pane)
    await store.sends.step("k", "submitting", 6)
    assert [(one.step, one.step_at, one.status) for one in await store.sends.open()] == [("submitting", 6, None)]
    await store.sends.end("k", "delivered", "seen to leave", entry(7, stage="outcome"))
    assert await store.sends.open() == []
    done = await store.sends.one("k")
    assert done is not None and (done.status, done.why) == ("delivered", "seen to leave")


async def test_an_end_is_final(store, pane):
    await begun(store, pane)
    await store.sends.end("k", "unknown", "", entry(7, stage="outcome"))
    await store.sends.end("k", "delivered", "", entry(8, stage="outcome"))
    await store.sends.step("k", "submitting", 9)
    done = await store.sends.one("k")
    assert done is not None and (done.status, done.step) == ("unknown", "typing")
    assert [one.at for one in await store.audit.list()] == [5, 7]


async def test_an_unknown_key_is_nobody(store):
    assert await store.sends.one("nobody") is None
