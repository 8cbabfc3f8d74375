import pytest

from termvisor.errors import InternalError
from termvisor.model.terminal.output import TextBlock
from termvisor.store import CommitResult, EpochUpdate


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
