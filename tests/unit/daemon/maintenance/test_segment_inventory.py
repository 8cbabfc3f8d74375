from termvisor.daemon.maintenance.segment_inventory import take_inventory
from tests.unit.daemon.aged_storage import open_storage


async def test_files_and_what_is_known_of_them_are_seen_together(tmp_path) -> None:
    async with open_storage(str(tmp_path)) as storage:
        pane = await storage.add_pane()
        closed = await storage.print_epoch(pane, b"one\n", b"two\n", days_ago=1)
        still_open = await storage.print_epoch(pane, b"x\n", b"y" * 20_000, b"z\n", days_ago=0, is_open=True)
        found = await take_inventory(storage.store, storage.places.raw_dir)
        over = [(segment.epoch, segment.start) for segment in found.list_consumed()]
        assert over == [(closed, 0), (closed, 4), (still_open, 0), (still_open, 2)]
        assert [(segment.epoch, segment.start) for segment in found.list_sealable()] == over[:3]
