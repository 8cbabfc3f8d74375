from termvisor.model.action.audit import AuditFilter
from termvisor.model.event import Event
from termvisor.model.ids import EpochId, PaneId
from termvisor.store.maintenance.retention import ACTION_TABLES
from tests.unit.store.stored_actions import add_approval, add_delivery, add_reservation


async def ended(store, new_pane, mux_id, at):
    pane = await new_pane(mux_id)
    epoch = await store.output.open_epoch(pane, "pipe", at)
    await store.output.close_epoch(epoch, "pane_exited", at, 0)
    await store.panes.mark_gone(pane, at)
    return pane


async def test_empty_gone_pane_is_deleted(store, new_pane):
    pane = await ended(store, new_pane, "%1", 100)
    late = await ended(store, new_pane, "%2", 900)
    assert await store.maintenance.delete_empty_panes(500, set()) == [pane]
    assert [known.id for known in await store.panes.list_panes(include_gone=True)] == [late]
    assert await store.output.list_epochs(pane) == []


async def test_id_of_a_deleted_pane_is_not_reused(store, new_pane):
    await ended(store, new_pane, "%1", 100)
    await store.maintenance.delete_empty_panes(500, set())
    assert await new_pane("%1") == 2
    assert await store.output.open_epoch(PaneId(2), "pipe", 1) == 2


async def test_a_pane_with_lines_events_or_files_stays(store, new_pane, write_lines):
    with_lines, with_event, on_disk = [await ended(store, new_pane, name, 100) for name in ("%1", "%2", "%3")]
    await write_lines(with_lines, "kept")
    await store.events.add([Event(at=100, kind="pane_gone", pane=with_event)])
    assert await store.maintenance.delete_empty_panes(500, {on_disk}) == []
    assert len(await store.panes.list_panes(include_gone=True)) == 3
    assert len(await store.output.list_epochs(with_event)) == 1


async def test_pane_is_deleted_after_its_actions_and_stays_in_the_audit_log(store, new_pane):
    pane, waiting = await ended(store, new_pane, "%1", 100), await ended(store, new_pane, "%2", 100)
    await add_delivery(store, pane, 50, ended_at=60)
    await add_approval(store, pane, 55, expires_at=65, answer="deny")
    await add_reservation(store, pane, 60, expires_at=70)
    await add_delivery(store, waiting, 80)
    assert await store.maintenance.delete_empty_panes(500, set()) == []
    async for _ in store.maintenance.delete_older_rows(500, ACTION_TABLES):
        pass
    assert await store.maintenance.delete_empty_panes(500, set()) == [pane]
    assert [known.id for known in await store.panes.list_panes(include_gone=True)] == [waiting]
    told = await store.audit.list(filters=AuditFilter(pane=pane))
    assert [entry.stage for entry in told] == ["intent", "outcome", "asked", "answered"]
    assert await store.audit.verify() is None


async def test_present_pane_is_never_deleted(store, new_pane):
    await new_pane()
    assert await store.maintenance.delete_empty_panes(1 << 60, set()) == []


async def test_server_without_panes_is_deleted(store, new_pane):
    await ended(store, new_pane, "%1", 100)
    await store.maintenance.delete_empty_panes(500, set())
    assert await store._db.read(lambda connection: connection.execute("SELECT count(*) FROM server").get) == 0


async def test_ids_of_files_on_disk_are_not_given_to_new_panes_and_epochs(store, new_pane):
    await store.maintenance.reserve_ids(PaneId(41), EpochId(99))
    pane = await new_pane()
    assert (pane, await store.output.open_epoch(pane, "pipe", 1)) == (42, 100)
    await store.maintenance.reserve_ids(PaneId(7), EpochId(7))
    assert await store.output.open_epoch(pane, "pipe", 2) == 101


async def test_every_foreign_key_has_an_index(store):
    """Else whoever forgets one pane would read a whole table, and everybody would wait for it."""
    query = """
        SELECT child.name || '.' || refers."from" FROM sqlite_schema child, pragma_foreign_key_list(child.name) refers
         WHERE child.type = 'table'
           AND NOT EXISTS (SELECT 1 FROM pragma_table_info(child.name) own
                            WHERE own.pk = 1 AND own.name = refers."from")
           AND NOT EXISTS (SELECT 1 FROM pragma_index_list(child.name) list, pragma_index_info(list.name) info
                            WHERE NOT list.partial AND info.seqno = 0 AND info.name = refers."from")
    """
    assert await store._db.read(lambda connection: connection.execute(query).fetchall()) == []
