"""Which action is undone, and when its undo counts as verified."""

import pytest
from msgspec.structs import replace

from termvisor.actions.undo import find_undoable_action, verify_input_cleared
from termvisor.errors import BadRequest, MuxError, NotUndoable, StaleSnapshot
from termvisor.model.action.action import Actor
from termvisor.model.action.audit import AuditEntry
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.ids import PaneId
from termvisor.store import Store
from termvisor.testing.fake_clock import FakeClock
from termvisor.testing.memory_store import open_memory_store
from tests.property.faulty_pane import FaultyPane
from tests.unit.actions.gate_scene import ME

DONE = AuditEntry(
    at=1, correlation="a", stage="outcome", kind="set_title", actor=ME, action_hash="", outcome="done", pane=None
)


async def open_audit(*entries: AuditEntry) -> Store:
    store = open_memory_store(FakeClock())
    await store.audit.add(list(entries))
    return store


async def test_the_callers_last_action_is_undone():
    store = await open_audit(
        DONE,
        replace(DONE, correlation="b"),
        replace(DONE, correlation="intent", stage="intent", outcome=""),
        replace(DONE, correlation="failed", outcome="failed"),
        replace(DONE, correlation="attached", kind="attach"),
        replace(DONE, correlation="undo", undoes="x"),
        replace(DONE, correlation="other user", actor=replace(ME, uid=1)),
        replace(DONE, correlation="other name", actor=replace(ME, name="x")),
        replace(DONE, correlation="other kind", actor=replace(ME, kind="robot")),
    )
    assert (await find_undoable_action(store.audit, "last", ME)).correlation == "b"
    await store.audit.add([replace(DONE, correlation="undo of b", undoes="b")])
    assert (await find_undoable_action(store.audit, "last", ME)).correlation == "a"
    await store.audit.add([replace(DONE, correlation="undo of a", undoes="a", outcome="refused")])
    assert (await find_undoable_action(store.audit, "last", ME)).correlation == "a"
    with pytest.raises(NotUndoable, match="no recent action of yours"):
        await find_undoable_action(store.audit, "last", Actor(kind="mcp", uid=1, pid=1))


async def test_an_action_is_found_by_its_correlation():
    store = await open_audit(replace(DONE, stage="intent", outcome=""), DONE, replace(DONE, outcome="unknown"))
    found = await find_undoable_action(store.audit, "a", ME)
    assert (found.stage, found.outcome) == ("outcome", "done")
    with pytest.raises(BadRequest, match="'x' not found"):
        await find_undoable_action(store.audit, "x", ME)
    await store.audit.add([replace(DONE, correlation="undo", undoes="a")])
    with pytest.raises(StaleSnapshot, match="already undone") as refused:
        await find_undoable_action(store.audit, "a", ME)
    assert refused.value.details == {"why": "already_undone", "correlation": "a"}


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ([replace(DONE, stage="intent", outcome="")], "no outcome yet"),
        ([replace(DONE, outcome="denied")], "denied"),
        ([replace(DONE, kind="notify")], "no outcome yet"),
        ([replace(DONE, stage="answered", outcome="done")], "no outcome yet"),
    ],
)
async def test_an_action_that_had_no_effect_cannot_be_undone(entries, text):
    store = await open_audit(*entries)
    with pytest.raises(NotUndoable, match=f"a was not executed: {text}"):
        await find_undoable_action(store.audit, "a", ME)


async def test_cleared_input_is_verified_on_the_screen():
    pane = FaultyPane()
    snapshot = await pane.take_snapshot(PaneId(1), Preconditions())
    done = Outcome(status="done", why="input_cleared", pane=PaneId(1))
    assert await verify_input_cleared(pane, snapshot, pane) == done
    pane.input = "make"
    unseen = replace(done, status="unknown", why="not_cleared", text="the input was not seen empty")
    assert await verify_input_cleared(pane, snapshot, pane) == unseen
    pane.input, pane.is_gone = "", True
    assert await verify_input_cleared(pane, snapshot, pane) == unseen

    async def fail(_pane: str) -> None:
        raise MuxError("no answer")

    pane.read_pane_state = fail
    assert await verify_input_cleared(pane, snapshot, pane) == replace(
        done, status="unknown", why="no_answer", text="no answer"
    )


async def test_the_last_action_is_searched_among_the_200_newest_entries():
    others = [replace(DONE, correlation=str(number), actor=replace(ME, uid=1)) for number in range(199)]
    store = await open_audit(DONE, *others)
    assert (await find_undoable_action(store.audit, "last", ME)).correlation == "a"
    await store.audit.add([replace(others[0], correlation="one more")])
    with pytest.raises(NotUndoable):
        await find_undoable_action(store.audit, "last", ME)
