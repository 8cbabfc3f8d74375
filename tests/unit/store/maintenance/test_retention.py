import pytest

from termvisor.model.action.audit import AuditFilter
from termvisor.model.event import Event
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import Gap, Mark
from termvisor.model.terminal.search_query import SearchQuery
from termvisor.search.executor import search
from termvisor.store import EpochUpdate
from termvisor.store.maintenance.retention import (
    ACTION_TABLES,
    HISTORY_TABLES,
    SIGNAL_TABLES,
    DeletionProgress,
    count_old_rows,
    delete_old_rows,
)
from termvisor.store.tables.indexed_table import INDEXED_TABLES
from tests.unit.store.stored_actions import add_approval, add_delivery, add_permit, add_reservation

TABLES = (*HISTORY_TABLES, *ACTION_TABLES, *SIGNAL_TABLES)


def never():
    return False


async def delete_rows(store, table, before):
    rule = next(rule for rule in TABLES if rule.table == table)
    state = await store._db.write(lambda connection: delete_old_rows(connection, DeletionProgress(rule, before), never))
    assert state.is_done
    return state.deleted


async def count_rows(store, table, before):
    rule = next(rule for rule in TABLES if rule.table == table)
    return await store._db.read(lambda connection: count_old_rows(connection, rule, before))


async def search_texts(store, text):
    return [hit.line.text for hit in (await search(store, SearchQuery(text=text), 10_000)).hits]


async def test_old_lines_are_deleted_with_their_index_entries(store, new_pane, write_lines):
    pane = await new_pane()
    await write_lines(pane, "old words 日本語 🎉", at=100)
    await write_lines(pane, "new words 日本語 🎉", at=900)
    assert await count_rows(store, "block", 500) == 1
    assert await delete_rows(store, "block", 500) == 1
    assert [(line.number, line.text) for line in await store.output.read_lines(pane)] == [(2, "new words 日本語 🎉")]
    assert await search_texts(store, "words 本語 🎉") == ["new words 日本語 🎉"]
    assert await store.check_integrity(thorough=True) == "ok"


async def test_a_block_that_ended_later_is_kept(store, new_pane, write_lines):
    pane = await new_pane()
    await write_lines(pane, "long", at=100, until=600)
    await write_lines(pane, "short", at=200)
    assert await delete_rows(store, "block", 500) == 1
    assert [line.text for line in await store.output.read_lines(pane)] == ["long"]


async def test_line_numbers_continue_after_everything_was_deleted(store, new_pane, write_lines):
    pane = await new_pane()
    await write_lines(pane, "one", "two", at=100)
    assert await delete_rows(store, "block", 500) == 1
    assert await write_lines(pane, "three", at=600) == 3
    assert await search_texts(store, "three") == ["three"]
    assert await search_texts(store, "two") == []
    assert await store.check_integrity(thorough=True) == "ok"


async def test_time_buckets_are_deleted_with_their_last_block(store, new_pane, write_lines):
    pane = await new_pane()
    for number in range(600):
        await write_lines(pane, f"line {number}", at=number)
    await delete_rows(store, "block", 550)
    shelves = await store._db.read(lambda c: [row[0] for row in c.execute("SELECT shelf FROM block_time")])
    assert shelves == [551 >> 8]
    assert len(await search_texts(store, "line")) == 20


async def test_deletion_stops_with_its_slice_and_continues_later(store, new_pane, write_lines):
    pane = await new_pane()
    for number in range(40):
        await write_lines(pane, f"line {number}", at=number)
    state, reached = DeletionProgress(TABLES[0], 500), []
    while not state.is_done:
        asked = iter([False])
        await store._db.write(lambda c, asked=asked: delete_old_rows(c, state, lambda: next(asked, True)))
        reached.append(state.deleted)
    assert reached == [8, 16, 24, 32, 40, 40]


async def test_old_events_marks_and_ended_gaps_are_deleted(store, new_pane):
    pane = await new_pane()
    epoch = await store.output.open_epoch(pane, "pipe", 100)
    mark = (100, Mark(kind="prompt_start", offset=0))
    await store.output.commit([EpochUpdate(pane=pane, epoch=epoch, committed=1, marks=(mark,))])
    await store.events.add([Event(at=100, kind="pane_appeared", pane=pane), Event(at=600, kind="pane_gone", pane=pane)])
    await store.output.record_gap(Gap(pane=pane, cause="pipe_closed", start_at=50, end_at=None))
    await store.output.record_gap(Gap(pane=pane, cause="pipe_closed", start_at=100, end_at=200))
    deleted = {rule.table: await delete_rows(store, rule.table, 500) for rule in TABLES}
    assert {table: number for table, number in deleted.items() if number} == {"mark": 1, "event": 1, "gap": 1}
    assert [gap.start_at for gap in await store.output.list_gaps()] == [50]


async def test_actions_are_deleted_by_the_time_of_their_end(store, new_pane):
    pane = await new_pane()
    for at in (100, 900):
        await add_delivery(store, pane, at, ended_at=at + 10)
        await add_approval(store, pane, at, expires_at=at + 10, answer="allow")
        await add_permit(store, at, expires_at=at + 10)
        await add_reservation(store, pane, at, expires_at=at + 10)
    foretold = {rule.table: number for rule in ACTION_TABLES if (number := await count_rows(store, rule.table, 500))}
    assert foretold == dict.fromkeys(("send", "question", "permit", "reservation"), 1)
    assert {table: await delete_rows(store, table, 500) for table in foretold} == foretold
    assert (await store.deliveries.find_by_key("key-100"), (await store.deliveries.find_by_key("key-900")).status) == (
        None,
        "delivered",
    )
    (question,) = await store.approvals.list(is_open=False)
    assert (question.at, len(question.voices)) == (900, 1)
    assert [permit.at for permit in await store.permits.list(905)] == [900]
    assert [reservation.at for reservation in await store.reservations.list(905)] == [900]


async def test_retention_uses_the_actual_end(store, new_pane):
    pane, other = await new_pane("%1"), await new_pane("%2")
    await add_permit(store, 100, expires_at=900, revoked_at=200)
    await add_reservation(store, pane, 100, expires_at=900, released_at=200)
    await add_reservation(store, other, 110, expires_at=200)
    await add_reservation(store, other, 120, expires_at=900)
    assert [await delete_rows(store, table, 500) for table in ("permit", "reservation")] == [1, 1]
    assert [kept.pane for kept in await store.reservations.list(500)] == [other]


async def test_delivery_without_an_outcome_is_kept(store, new_pane):
    await add_delivery(store, await new_pane(), 100)
    assert await delete_rows(store, "send", 1 << 60) == 0
    assert [send.key for send in await store.deliveries.list_open()] == ["key-100"]


@pytest.mark.parametrize("rule", TABLES, ids=lambda rule: rule.table)
async def test_retained_tables_name_existing_columns(store, rule):
    assert await delete_rows(store, rule.table, 500) == await count_rows(store, rule.table, 500) == 0


async def test_every_growing_table_has_a_retention_rule(store):
    kept = {"server", "pane", "epoch", "audit", "voice", "knowledge", "reading", "account", "account_usage"}
    own = {f"{table}_{part}" for table in INDEXED_TABLES for part in ("time", "fts", "rewritten")}
    own |= {"run_step", "run_signal", "run_cursor", "bookmark"}  # deleted with their run or agent; single rows
    own |= {"notice", "notice_cursor"}  # deleted once the notification is sent; single row
    own |= {"index_upgrade", "text_to_derive"}  # one row for each index; deleted once the text is derived
    own |= {"confirmed_time"}  # single row
    own |= {"job"}  # by the settings of jobs: age, number and size of the output
    query = (
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '%_fts_%'"
    )
    tables = await store._db.read(lambda connection: {row[0] for row in connection.execute(query)})
    assert tables - kept - own == {rule.table for rule in TABLES}


async def add_closed_pane(store, new_pane, mux_id, at):
    pane = await new_pane(mux_id)
    epoch = await store.output.open_epoch(pane, "pipe", at)
    await store.output.close_epoch(epoch, "pane_exited", at, 0)
    await store.panes.mark_gone(pane, at)
    return pane


async def test_empty_gone_pane_is_deleted(store, new_pane):
    pane = await add_closed_pane(store, new_pane, "%1", 100)
    late = await add_closed_pane(store, new_pane, "%2", 900)
    assert await store.maintenance.delete_empty_panes(500, set()) == [pane]
    assert [known.id for known in await store.panes.list_panes(include_gone=True)] == [late]
    assert await store.output.list_epochs(pane) == []


async def test_id_of_a_deleted_pane_is_not_reused(store, new_pane):
    await add_closed_pane(store, new_pane, "%1", 100)
    await store.maintenance.delete_empty_panes(500, set())
    assert await new_pane("%1") == 2
    assert await store.output.open_epoch(PaneId(2), "pipe", 1) == 2


async def test_a_pane_with_lines_events_or_files_stays(store, new_pane, write_lines):
    with_lines, with_event, on_disk = [await add_closed_pane(store, new_pane, name, 100) for name in ("%1", "%2", "%3")]
    await write_lines(with_lines, "kept")
    await store.events.add([Event(at=100, kind="pane_gone", pane=with_event)])
    assert await store.maintenance.delete_empty_panes(500, {on_disk}) == []
    assert len(await store.panes.list_panes(include_gone=True)) == 3
    assert len(await store.output.list_epochs(with_event)) == 1


async def test_pane_is_deleted_after_its_actions_and_stays_in_the_audit_log(store, new_pane):
    pane, waiting = await add_closed_pane(store, new_pane, "%1", 100), await add_closed_pane(store, new_pane, "%2", 100)
    await add_delivery(store, pane, 50, ended_at=60)
    await add_approval(store, pane, 55, expires_at=65, answer="deny")
    await add_reservation(store, pane, 60, expires_at=70)
    await add_delivery(store, waiting, 80)
    assert await store.maintenance.delete_empty_panes(500, set()) == []
    async for _ in store.maintenance.delete_older_rows(500, ACTION_TABLES):
        pass
    assert await store.maintenance.delete_empty_panes(500, set()) == [pane]
    assert [known.id for known in await store.panes.list_panes(include_gone=True)] == [waiting]
    entries = await store.audit.list(filters=AuditFilter(pane=pane))
    assert [entry.stage for entry in entries] == ["intent", "outcome", "asked", "answered"]
    assert await store.audit.verify() is None


async def test_present_pane_is_never_deleted(store, new_pane):
    await new_pane()
    assert await store.maintenance.delete_empty_panes(1 << 60, set()) == []


async def test_server_without_panes_is_deleted(store, new_pane):
    await add_closed_pane(store, new_pane, "%1", 100)
    await store.maintenance.delete_empty_panes(500, set())
    assert await store._db.read(lambda connection: connection.execute("SELECT count(*) FROM server").get) == 0


async def test_ids_of_files_on_disk_are_not_reused_for_panes_and_epochs(store, new_pane):
    await store.maintenance.reserve_ids(PaneId(41), EpochId(99))
    pane = await new_pane()
    assert (pane, await store.output.open_epoch(pane, "pipe", 1)) == (42, 100)
    await store.maintenance.reserve_ids(PaneId(7), EpochId(7))
    assert await store.output.open_epoch(pane, "pipe", 2) == 101


async def test_every_foreign_key_has_an_index(store):
    """Otherwise deleting one pane would scan a whole table and block the writer."""
    query = """
        SELECT child.name || '.' || refers."from" FROM sqlite_schema child, pragma_foreign_key_list(child.name) refers
         WHERE child.type = 'table'
           AND NOT EXISTS (SELECT 1 FROM pragma_table_info(child.name) own
                            WHERE own.pk = 1 AND own.name = refers."from")
           AND NOT EXISTS (SELECT 1 FROM pragma_index_list(child.name) list, pragma_index_info(list.name) info
                            WHERE NOT list.partial AND info.seqno = 0 AND info.name = refers."from")
    """
    assert await store._db.read(lambda connection: connection.execute(query).fetchall()) == []
