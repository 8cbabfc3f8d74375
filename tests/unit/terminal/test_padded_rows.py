"""A row padded to the pane's width is kept: zsh and fish do that after output without a last newline."""

from tests.unit.terminal.decoder_driver import decode

ZSH = b"unended%" + b" " * 19 + b"\r \r\r\x1b[0m\x1b[27m\x1b[24m\x1b[J$ ls\x1b[K\r\n"


def decode_lines(data: bytes, width: int, cut: int = 0) -> list[str]:
    return decode(data, [cut], width=width).texts


def test_a_padded_row_is_kept_however_it_is_cut():
    for cut in range(len(ZSH)):
        assert decode_lines(ZSH, 20, cut) == ["unended%", "$ ls"], cut


def test_in_a_wider_pane_the_row_is_overwritten():
    assert decode_lines(b"first\r\n" + ZSH, 80) == ["first", "$ ls"]


def test_a_long_line_with_a_newline_is_one_line():
    long = b"x" * 35 + b" " * 6 + b"\r\nnext\r\n"
    for cut in range(45):
        assert decode_lines(long, 20, cut) == ["x" * 35, "next"], cut


def test_a_progress_bar_within_the_row_is_still_one_line():
    assert decode_lines(b"10%" + b" " * 10 + b"\r20%" + b" " * 10 + b"\rdone\x1b[K\r\n", 20) == ["done"]


def test_a_bar_longer_than_the_row_is_overwritten_in_its_last_row_only():
    assert decode_lines(b"#" * 30 + b"\r" + b"=" * 30 + b"\r\n", 20) == ["#" * 20 + "=" * 30]


def test_erasing_the_row_below_keeps_the_line():
    assert decode_lines(b"unended" + b" " * 20 + b"\r\x1b[K$ ls\r\n", 20) == ["unended", "$ ls"]


def test_several_carriage_returns_are_one():
    for cut in range(40):
        assert decode_lines(b"unended" + b" " * 20 + b"\r\r\r\x1b[J$ ls\r\n", 20, cut) == ["unended", "$ ls"], cut
