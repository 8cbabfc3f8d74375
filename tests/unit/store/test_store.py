import asyncio

from termvisor.clock import SystemClock
from termvisor.store import Store
from termvisor.store.sqlite.retrying_database import WriteRetry
from termvisor.store.sqlite.table import StoreTable


async def test_data_survives_a_restart(tmp_path, store, new_pane, write_lines):
    pane = await new_pane()
    await write_lines(pane, "hello")
    await store.close()
    again = await Store.open(str(tmp_path / "visor.db"), SystemClock())
    assert [line.text for line in await again.output.read_lines(pane)] == ["hello"]
    assert await again.check_integrity(thorough=True) == "ok"
    await again.close()


async def test_the_store_reports_its_size_and_last_checkpoint(store, new_pane, write_lines):
    await write_lines(await new_pane(), "x" * 100_000)
    assert store.checkpointed_at is None
    await store.checkpoint()
    size, pages = await store.measure_sizes()
    assert size > 100_000
    assert pages > 10
    assert store.checkpointed_at is not None
    assert store.is_writable()


async def test_index_that_lost_a_block_is_found_and_rebuilt(store, new_pane, write_lines):
    pane = await new_pane()
    await write_lines(pane, "hello")
    await store._db.write(
        lambda connection: (
            connection.execute(
                "INSERT INTO block_fts (block_fts, rowid, text, pane) VALUES ('delete', 1, 'hello', ?)", (pane,)
            ).get
        )
    )
    assert await store.check_integrity() == "the search index and the text differ by 1 blocks"
    assert [table async for table in store.maintenance.rebuild_indexes()]
    assert await store.check_integrity(thorough=True) == "ok"


async def test_index_that_does_not_match_the_text_is_found_by_the_thorough_check(store, new_pane, write_lines):
    await write_lines(await new_pane(), "hello")
    await store._db.write(lambda connection: connection.execute("UPDATE block SET text = 'other'").get)
    assert await store.check_integrity() == "ok"
    assert await store.check_integrity(thorough=True) == "the search index of block does not match the text"


async def test_concurrent_reads_and_writes(store, new_pane, write_lines):
    pane = await new_pane()
    numbers = await asyncio.gather(*(write_lines(pane, f"line {number}") for number in range(50)))
    assert sorted(numbers) == list(range(1, 51))
    assert await store.output.find_last_line_number(pane) == 50


async def test_every_table_of_the_store_uses_its_database(store):
    tables = {name: type(value).__name__ for name, value in vars(store).items() if isinstance(value, StoreTable)}
    assert tables == {
        "panes": "PaneTable",
        "output": "OutputTable",
        "derived_text": "DerivedTextTable",
        "events": "EventTable",
        "detections": "DetectionTable",
        "sightings": "SightingTable",
        "baseline_screens": "BaselineScreenTable",
        "commands": "CommandTable",
        "jobs": "JobTable",
        "agent_facts": "AgentFactTable",
        "sessions": "SessionTable",
        "transcripts": "TranscriptTable",
        "audit": "AuditTable",
        "approvals": "ApprovalTable",
        "permits": "PermitTable",
        "reservations": "ReservationTable",
        "deliveries": "DeliveryTable",
        "workflow_runs": "WorkflowRunTable",
        "accounts": "AccountTable",
        "notification_outbox": "NotificationOutbox",
    }
    assert {value._db for value in vars(store).values() if isinstance(value, StoreTable)} == {store._db}
    assert (store.approvals._audit, store.deliveries._audit) == (store.audit, store.audit)


async def test_a_retrying_view_reads_what_the_store_wrote(store, new_pane):
    pane = await new_pane()
    view = store.with_write_retry(WriteRetry(SystemClock()))
    assert [one.id for one in await view.panes.list_panes()] == [pane]
    await view.panes.mark_gone(pane, 20)
    assert await store.panes.list_panes() == []


async def test_a_file_that_cannot_be_read_is_damaged(store, tmp_path):
    (tmp_path / "other").write_bytes(b"x" * 20_000)
    store._db.path = str(tmp_path / "other")
    assert "is damaged or not a database" in await store.check_integrity()


async def test_problems_of_the_files_are_listed(store):
    assert store.file_problems == ()
    store._db.damage, store._db.repair_notice = "cut", "repaired"
    assert store.file_problems == ("cut", "repaired")
