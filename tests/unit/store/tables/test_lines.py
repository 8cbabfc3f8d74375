import pytest

from termvisor.model.terminal.output import TextBlock
from termvisor.store import EpochUpdate


@pytest.fixture
async def pane(store, new_pane):
    """Lines 1 to 20 in blocks of 1, 2, 3 … lines, among the lines of another pane."""
    pane, other = await new_pane("%1"), await new_pane("%2")
    epoch, theirs = await store.output.open_epoch(pane, "pipe", 1), await store.output.open_epoch(other, "pipe", 1)
    cuts = [(1, 1), (2, 3), (4, 6), (7, 10), (11, 15), (16, 20)]
    blocks = [
        TextBlock(
            epoch=epoch, start=0, end=0, at=first * 10, until=last * 10, lines=tuple(map(str, range(first, last + 1)))
        )
        for first, last in cuts
    ]
    noise = TextBlock(epoch=theirs, start=0, end=0, at=1, until=1, lines=("noise",) * 5)
    for each in blocks:
        await store.output.commit(
            [
                EpochUpdate(pane=other, epoch=theirs, committed=0, blocks=(noise,)),
                EpochUpdate(pane=pane, epoch=epoch, committed=0, blocks=(each,)),
            ]
        )
    return pane


@pytest.mark.parametrize(
    ("asked", "numbers"),
    [
        ({}, range(1, 21)),
        ({"limit": 3}, range(18, 21)),
        ({"limit": 7}, range(14, 21)),
        ({"before": 9, "limit": 4}, range(5, 9)),
        ({"before": 1}, []),
        ({"after": 0, "limit": 4}, range(1, 5)),
        ({"after": 4, "limit": 4}, range(5, 9)),
        ({"after": 6, "limit": 1}, [7]),
        ({"after": 4, "before": 8}, range(5, 8)),
        ({"after": 20}, []),
        ({"after": 1000}, []),
        ({"after": -5, "limit": 2}, [1, 2]),
        ({"after": 1 << 70}, []),
        ({"limit": 0}, []),
        ({"limit": -1}, []),
    ],
)
async def test_lines_between_two_numbers_are_listed_oldest_first(store, pane, asked, numbers):
    lines = await store.output.read_lines(pane, **asked)
    assert [line.number for line in lines] == list(numbers)
    assert [line.text for line in lines] == [str(number) for number in numbers]


async def test_a_line_has_a_time_between_the_first_and_the_last_of_its_block(store, pane):
    assert [line.at for line in await store.output.read_lines(pane)] == [number * 10 for number in range(1, 21)]


async def test_the_last_line_of_an_empty_pane_is_zero(store, pane, new_pane):
    assert await store.output.find_last_line_number(pane) == 20
    assert await store.output.find_last_line_number(await new_pane("%3")) == 0
    assert await store.output.find_last_line_number(999) == 0
    assert await store.output.read_lines(999) == []
