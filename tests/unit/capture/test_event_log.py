"""A fact is in the store before anybody hears of it, and nobody hears of one that could not be stored."""

import pytest

from termvisor.errors import VisorError


async def test_what_is_told_can_be_read_back_with_its_number(memory):
    pane = await memory.add_pane()
    with memory.event_log.events.subscribe() as listener:
        await memory.event_log.emit("pane_appeared", pane, command="sh", session="work")
        told = await listener.get()
    assert [told] == await memory.store.events.list()
    assert (told.kind, told.pane, told.data) == ("pane_appeared", pane, {"command": "sh", "session": "work"})
    assert told.at > 0


async def test_facts_are_told_in_the_order_in_which_they_are_numbered(memory):
    with memory.event_log.events.subscribe() as listener:
        for number in range(5):
            await memory.event_log.emit("alert", what=f"number {number}")
        told = listener.drain()
    assert told == await memory.store.events.list(limit=10)


async def test_what_cannot_be_stored_is_not_told(memory):
    with memory.event_log.events.subscribe() as listener:
        await memory.store.close()
        with pytest.raises(VisorError):
            await memory.event_log.emit("alert", what="nobody keeps this")
        assert listener.drain() == []


async def test_what_needs_a_person_is_told_once_and_once_more_when_it_is_over(memory):
    chronicle = memory.event_log
    await chronicle.raise_alert("recorder", "it keeps ending")
    await chronicle.raise_alert("recorder", "it still keeps ending")
    assert chronicle.alerts == {"recorder": "it still keeps ending"}
    await chronicle.clear_alert("recorder")
    await chronicle.clear_alert("recorder")
    assert chronicle.alerts == {}
    assert await memory.list_event_kinds() == ["alert", "alert_cleared"]
