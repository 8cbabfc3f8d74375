"""A row padded to the pane's width is kept: zsh and fish do that after output without a last newline."""

from termvisor.model.ids import EpochId
from termvisor.model.terminal.output import Delta
from termvisor.terminal.text_decoder import TextDecoder

ZSH = b"unended%" + b" " * 19 + b"\r \r\x1b[0m$ ls\r\n"


def decode_lines(data: bytes, width: int, cut: int = 0) -> list[str]:
    stage = TextDecoder()
    stage.assembler.width = width
    parts = [data[:cut], data[cut:]]
    offsets = [0, cut]
    derived = [stage.feed(Delta(EpochId(1), at, part, 5)) for at, part in zip(offsets, parts, strict=True) if part]
    return [line.text for one in derived for line in one.lines]


def test_a_padded_row_is_kept_however_it_is_cut():
    for cut in range(len(ZSH)):
        assert decode_lines(ZSH, 20, cut) == ["unended%", "$ ls"], cut


def test_without_a_width_the_row_is_overwritten_cell_by_cell():
    assert decode_lines(ZSH, 0) == ["$ lsded%"]


def test_a_long_line_with_a_newline_is_one_line():
    long = b"x" * 35 + b" " * 6 + b"\r\nnext\r\n"
    for cut in range(45):
        assert decode_lines(long, 20, cut) == ["x" * 35, "next"], cut


def test_a_progress_bar_within_the_row_is_still_one_line():
    assert decode_lines(b"10%" + b" " * 10 + b"\r20%" + b" " * 10 + b"\rdone\x1b[K\r\n", 20) == ["done"]


def test_a_bar_longer_than_the_row_is_overwritten():
    assert decode_lines(b"#" * 30 + b"\r" + b"=" * 30 + b"\r\n", 20) == ["=" * 30]


def test_erasing_the_row_below_keeps_the_line():
    assert decode_lines(b"unended" + b" " * 20 + b"\r\x1b[K$ ls\r\n", 20) == ["unended", "$ ls"]


def test_several_carriage_returns_are_one():
    for cut in range(40):
        assert decode_lines(b"unended" + b" " * 20 + b"\r\r\r\x1b[J$ ls\r\n", 20, cut) == ["unended", "$ ls"], cut
