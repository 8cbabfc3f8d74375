from termvisor.daemon.maintenance.segment_inventory import surveyed
from tests.unit.daemon.storage import storage_in


async def test_files_and_what_is_known_of_them_are_seen_together(tmp_path) -> None:
    async with storage_in(str(tmp_path)) as storage:
        pane = await storage.pane()
        closed = await storage.print(pane, b"one\n", b"two\n", days_ago=1)
        still_open = await storage.print(pane, b"x\n", b"y" * 20_000, b"z\n", days_ago=0, is_open=True)
        found = await surveyed(storage.store, storage.places.raw_dir)
        over = [(segment.epoch, segment.start) for segment in found.over()]
        assert over == [(closed, 0), (closed, 4), (still_open, 0), (still_open, 2)]
        assert [(segment.epoch, segment.start) for segment in found.ripe()] == over[:3]
