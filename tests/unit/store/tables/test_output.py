import pytest
from msgspec.structs import replace

from termvisor.errors import InternalError
from termvisor.model.terminal.output import Epoch, Gap, Mark, TextBlock
from termvisor.store import CommitResult, EpochUpdate


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


def build_block(epoch, *lines, start=0, at=100):
    return TextBlock(epoch=epoch, start=start, end=start + 10, at=at, until=at, lines=lines)


@pytest.fixture
async def pane(new_pane):
    return await new_pane()


@pytest.fixture
async def epoch(store, pane):
    return await store.output.open_epoch(pane, "pipe", 1)


async def read_texts(store, pane):
    return [line.text for line in await store.output.read_lines(pane)]


async def test_lines_offset_and_carry_are_stored_together(store, pane, epoch):
    step = EpochUpdate(
        pane=pane, epoch=epoch, committed=10, carry=b"\x00\x01", blocks=(build_block(epoch, "a", "", "c"),)
    )
    assert await store.output.commit([step]) == CommitResult({pane: 3})
    assert await read_texts(store, pane) == ["a", "", "c"]
    (stored,) = await store.output.list_epochs(pane)
    assert (stored.committed, stored.carry) == (10, b"\x00\x01")


async def test_line_numbers_continue_over_blocks_batches_and_epochs(store, pane, epoch):
    await store.output.commit(
        [
            EpochUpdate(
                pane=pane, epoch=epoch, committed=1, blocks=(build_block(epoch, "a"), build_block(epoch, "b", "c"))
            ),
            EpochUpdate(pane=pane, epoch=epoch, committed=2, blocks=(build_block(epoch, "d"),)),
        ]
    )
    later = await store.output.open_epoch(pane, "pipe", 2)
    last = await store.output.commit(
        [EpochUpdate(pane=pane, epoch=later, committed=5, blocks=(build_block(later, "e"),))]
    )
    assert last == CommitResult({pane: 5})
    assert [(line.number, line.text, line.epoch) for line in await store.output.read_lines(pane)] == [
        (1, "a", epoch),
        (2, "b", epoch),
        (3, "c", epoch),
        (4, "d", epoch),
        (5, "e", later),
    ]


async def test_offset_going_back_rejects_the_whole_batch(store, pane, epoch, new_pane):
    other = await new_pane("%2")
    theirs = await store.output.open_epoch(other, "pipe", 1)
    await store.output.commit([EpochUpdate(pane=pane, epoch=epoch, committed=10, blocks=(build_block(epoch, "a"),))])
    with pytest.raises(InternalError, match="already beyond 9"):
        await store.output.commit(
            [
                EpochUpdate(pane=other, epoch=theirs, committed=10, blocks=(build_block(theirs, "x"),)),
                EpochUpdate(pane=pane, epoch=epoch, committed=9, blocks=(build_block(epoch, "a again"),)),
            ]
        )
    assert await read_texts(store, pane) == ["a"]
    assert await read_texts(store, other) == []
    assert await store.check_integrity(thorough=True) == "ok"


async def test_unchanged_offset_is_allowed(store, pane, epoch):
    step = EpochUpdate(pane=pane, epoch=epoch, committed=10)
    assert await store.output.commit([step, step]) == CommitResult({pane: 0})


async def test_an_epoch_of_another_pane_is_rejected(store, pane, epoch, new_pane):
    other = await new_pane("%2")
    with pytest.raises(InternalError, match="missing"):
        await store.output.commit([EpochUpdate(pane=other, epoch=epoch, committed=1)])


async def test_a_line_with_a_newline_is_rejected(store, pane, epoch):
    with pytest.raises(InternalError, match="newline"):
        await store.output.commit(
            [EpochUpdate(pane=pane, epoch=epoch, committed=1, blocks=(build_block(epoch, "a\nb"),))]
        )


async def test_a_block_without_lines_stores_nothing(store, pane, epoch):
    steps = [EpochUpdate(pane=pane, epoch=epoch, committed=1, blocks=(build_block(epoch), build_block(epoch, "a")))]
    assert await store.output.commit(steps) == CommitResult({pane: 1})
    assert await read_texts(store, pane) == ["a"]


async def test_surrogates_in_lines_are_replaced(store, pane, epoch):
    lines = ("nul \0 inside", "\x1b[31m \u2028 \x85 \x0b", "lone \ud800 surrogate", "'; DROP TABLE block; --")
    await store.output.commit([EpochUpdate(pane=pane, epoch=epoch, committed=1, blocks=(build_block(epoch, *lines),))])
    assert await read_texts(store, pane) == [*lines[:2], "lone ? surrogate", lines[3]]
