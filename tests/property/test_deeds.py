"""Laws of what was asked for and done: nothing that still holds is aged away, and nothing young is."""

import asyncio
import tempfile

from hypothesis import given
from hypothesis import strategies as st

from termvisor.clock import SystemClock
from termvisor.model.ids import MuxPaneId, PaneId, TargetName
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, ServerInstance
from termvisor.store import Store
from termvisor.store.maintenance.retention import ACTION_TABLES
from tests.fuzz.example_count import build_settings
from tests.unit.store.stored_actions import add_approval, add_delivery, add_permit, add_reservation

NOW = 1000
ends = st.none() | st.integers(0, 400)
"""After how long somebody ends it; or nobody does."""
deeds = st.lists(
    st.tuples(
        st.sampled_from(["send", "question", "permit", "reservation"]),
        st.integers(1, 90),
        st.integers(1, 1500),
        ends,
    ),
    max_size=10,
)
"""What is done, how long after the one before, how long it would hold, and when it is ended."""


async def do(store: Store, pane: PaneId, plan: list) -> None:
    at = 0
    for what, later, lasts, end in plan:
        at += later
        ended_at = None if end is None else at + end
        match what:
            case "send":
                await add_delivery(store, pane, at, ended_at=ended_at)
            case "question":
                await add_approval(store, pane, at, expires_at=at + lasts, answer="allow" if end else "")
            case "permit":
                await add_permit(store, at, expires_at=at + lasts, revoked_at=ended_at)
            case "reservation":
                await add_reservation(store, pane, at, expires_at=at + lasts, released_at=ended_at)


async def holding(store: Store) -> list[object]:
    """All that somebody may still wait for, use or be bound by now."""
    questions = await store.approvals.list(is_open=False, limit=100)
    return [
        await store.deliveries.list_open(),
        [question for question in questions if question.expires_at > NOW],
        await store.permits.list(NOW),
        await store.reservations.list(NOW),
    ]


async def law(plan: list, before: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = await Store.open(f"{folder}/visor.db", SystemClock())
        try:
            place = PaneInstance(ServerInstance(TargetName("local"), "/s", 1, 1), MuxPaneId("%1"))
            pane, _ = await store.panes.find_or_add(place, PaneFacts(mux_id=place.mux_id, pid=1), at=1)
            await do(store, pane, plan)
            held_before, recorded = await holding(store), await store.audit.list(limit=100)
            foretold = await store.maintenance.count_older_rows(before, ACTION_TABLES)
            gone = dict.fromkeys(foretold, 0)
            async for table, number in store.maintenance.delete_older_rows(before, ACTION_TABLES):
                gone[table] += number
            assert await holding(store) == held_before
            assert gone == foretold
            assert await store.audit.list(limit=100) == recorded
            assert await store.audit.verify() is None
        finally:
            await store.close()


@build_settings(40)
@given(deeds, st.integers(0, NOW))
def test_nothing_that_still_holds_is_aged_away_and_the_record_stays_whole(plan, before):
    asyncio.run(law(plan, before))
