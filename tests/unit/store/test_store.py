import asyncio

from termvisor.clock import SystemClock
from termvisor.store import Store


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
