import pytest
from msgspec.structs import replace

from termvisor.errors import InternalError
from termvisor.model.terminal.output import Epoch, Gap, Mark
from termvisor.store import EpochUpdate


async def test_an_epoch_is_open_until_it_is_closed_and_closes_once(store, new_pane):
    pane = await new_pane()
    epoch = await store.output.open_epoch(pane, "pipe", 100)
    assert await store.output.list_open_epochs() == [Epoch(id=epoch, pane=pane, source="pipe", opened_at=100)]
    await store.output.close_epoch(epoch, "pane_exited", 200, size=0)
    assert await store.output.list_open_epochs() == []
    (closed,) = await store.output.list_epochs(pane)
    assert (closed.closed_at, closed.ended_by, closed.size) == (200, "pane_exited", 0)
    with pytest.raises(InternalError, match="not open"):
        await store.output.close_epoch(epoch, "stopped", 300, size=5)


async def test_a_closed_epoch_is_unfinished_until_all_bytes_are_decoded(store, new_pane):
    pane = await new_pane()
    epoch = await store.output.open_epoch(pane, "control", 100)
    await store.output.commit([EpochUpdate(pane=pane, epoch=epoch, committed=40, carry=b"\x01")])
    await store.output.close_epoch(epoch, "joined", 200, size=50)
    (unfinished,) = await store.output.list_unfinished_epochs()
    assert (unfinished.id, unfinished.committed, unfinished.carry) == (epoch, 40, b"\x01")
    await store.output.commit([EpochUpdate(pane=pane, epoch=epoch, committed=50)])
    assert await store.output.list_unfinished_epochs() == []


async def test_epochs_of_a_pane_are_listed_in_order_with_rising_ids(store, new_pane):
    pane, other = await new_pane("%1"), await new_pane("%2")
    ids = [await store.output.open_epoch(each, "pipe", 1) for each in (pane, other, pane)]
    assert ids == sorted(set(ids))
    assert [epoch.id for epoch in await store.output.list_epochs(pane)] == [ids[0], ids[2]]


async def test_open_gap_ends_when_its_pane_is_captured_again(store, new_pane):
    pane, other = await new_pane("%1"), await new_pane("%2")
    before = await store.output.open_epoch(pane, "pipe", 1)
    gap = await store.output.record_gap(
        Gap(pane=pane, cause="pipe_stolen", start_at=10, after=before, detail="by the user")
    )
    theirs = await store.output.record_gap(Gap(pane=other, cause="server_gone", start_at=11))
    after = await store.output.open_epoch(pane, "pipe", 20)
    await store.output.end_gaps(pane, after, 20)
    await store.output.end_gaps(pane, after, 30)
    assert await store.output.list_gaps(pane=pane) == [replace(gap, end_at=20, before=after)]
    assert await store.output.list_gaps(pane=other) == [theirs]


async def test_gaps_are_listed_by_their_start_and_as_long_as_they_last(store, new_pane):
    pane = await new_pane()
    for start, end in ((30, None), (10, 15), (5, 40)):
        await store.output.record_gap(Gap(pane=pane, cause="disk_full", start_at=start, end_at=end))
    assert [gap.start_at for gap in await store.output.list_gaps()] == [5, 10, 30]
    assert [gap.start_at for gap in await store.output.list_gaps(since=20)] == [5, 30]
    assert [gap.start_at for gap in await store.output.list_gaps(pane=pane, since=41)] == [30]


async def test_marks_are_read_as_stored_newest_last(store, new_pane):
    pane = await new_pane()
    epoch = await store.output.open_epoch(pane, "pipe", 1)
    marks = (
        (5, Mark(kind="prompt_start", offset=10, params={"aid": "1"})),
        (6, Mark(kind="title", offset=20, text="vim \udce9")),
        (7, Mark(kind="command_end", offset=30, exit_code=2)),
    )
    await store.output.commit([EpochUpdate(pane=pane, epoch=epoch, committed=30, marks=marks)])
    (_, title), last = await store.output.list_marks(pane, limit=2)
    assert title.text == "vim ?"
    assert last == marks[2]
    assert (await store.output.list_marks(pane))[0] == marks[0]
