"""Group settled lines into blocks of bounded size and time span."""

from hypothesis import given
from hypothesis import strategies as st

from termvisor.model.ids import EpochId
from termvisor.terminal.blocks import build_blocks
from termvisor.terminal.text_decoder import SettledLine

EPOCH = EpochId(3)
SECOND = 1_000_000_000


def settled(*times: int) -> list[SettledLine]:
    return [SettledLine(f"line {number}", number * 10, number * 10 + 9, at) for number, at in enumerate(times)]


def texts(lines: list[SettledLine]) -> list[str]:
    return [line.text for line in lines]


def test_no_lines_are_no_block():
    assert list(build_blocks(EPOCH, [], [])) == []


def test_a_block_spans_its_lines():
    lines = settled(5, 6, 7)
    (block,) = build_blocks(EPOCH, lines, ["a", "b", "c"])
    assert (block.epoch, block.start, block.end, block.at, block.until) == (EPOCH, 0, 29, 5, 7)
    assert block.lines == ("a", "b", "c")


def test_lines_of_different_seconds_do_not_share_a_block():
    lines = settled(0, SECOND // 2, 2 * SECOND)
    assert [len(block.lines) for block in build_blocks(EPOCH, lines, texts(lines))] == [2, 1]


def test_a_block_holds_at_most_32_lines_and_about_two_kilobytes():
    lines = settled(*[0] * 70)
    assert [len(block.lines) for block in build_blocks(EPOCH, lines, texts(lines))] == [32, 32, 6]
    assert [len(block.lines) for block in build_blocks(EPOCH, lines[:4], ["x" * 1500] * 4)] == [2, 2]


@given(st.lists(st.tuples(st.text(max_size=900), st.integers(0, 5 * SECOND)), max_size=80))
def test_no_line_is_lost_doubled_or_moved(said):
    times = sorted(at for _, at in said)
    lines = settled(*times)
    made = list(build_blocks(EPOCH, lines, [text for text, _ in said]))
    assert [text for block in made for text in block.lines] == [text for text, _ in said]
    assert all(block.until - block.at <= SECOND for block in made)
