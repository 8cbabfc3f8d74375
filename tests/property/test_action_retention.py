"""Retention of actions: open or valid ones are never deleted, and the audit log stays complete."""

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
"""Seconds until it is ended; None if it is never ended."""
action_plans = st.lists(
    st.tuples(
        st.sampled_from(["send", "approval", "permit", "reservation"]),
        st.integers(1, 90),
        st.integers(1, 1500),
        ends,
    ),
    max_size=10,
)
"""Kind, seconds after the previous action, lifetime, and seconds until its end."""


async def store_actions(store: Store, pane: PaneId, plan: list) -> None:
    at = 0
    for what, later, lasts, end in plan:
        at += later
        ended_at = None if end is None else at + end
        match what:
            case "send":
                await add_delivery(store, pane, at, ended_at=ended_at)
            case "approval":
                await add_approval(store, pane, at, expires_at=at + lasts, answer="allow" if end else "")
            case "permit":
                await add_permit(store, at, expires_at=at + lasts, revoked_at=ended_at)
            case "reservation":
                await add_reservation(store, pane, at, expires_at=at + lasts, released_at=ended_at)


async def list_active_actions(store: Store) -> list[object]:
    """Return the open deliveries and the approvals, permits and reservations that are valid now."""
    approvals = await store.approvals.list(is_open=False, limit=100)
    return [
        await store.deliveries.list_open(),
        [approval for approval in approvals if approval.expires_at > NOW],
        await store.permits.list(NOW),
        await store.reservations.list(NOW),
    ]


async def check_retention(plan: list, before: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = await Store.open(f"{folder}/visor.db", SystemClock())
        try:
            place = PaneInstance(ServerInstance(TargetName("local"), "/s", 1, 1), MuxPaneId("%1"))
            pane, _ = await store.panes.find_or_add(place, PaneFacts(mux_id=place.mux_id, pid=1), at=1)
            await store_actions(store, pane, plan)
            active_before, audit_before = await list_active_actions(store), await store.audit.list(limit=100)
            expected_counts = await store.maintenance.count_older_rows(before, ACTION_TABLES)
            deleted_counts = dict.fromkeys(expected_counts, 0)
            async for table, number in store.maintenance.delete_older_rows(before, ACTION_TABLES):
                deleted_counts[table] += number
            assert await list_active_actions(store) == active_before
            assert deleted_counts == expected_counts
            assert await store.audit.list(limit=100) == audit_before
            assert await store.audit.verify() is None
        finally:
            await store.close()


@build_settings(40)
@given(action_plans, st.integers(0, NOW))
def test_retention_keeps_active_actions_and_the_audit_log(plan, before):
    asyncio.run(check_retention(plan, before))
