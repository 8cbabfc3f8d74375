"""Marks are anchored to the first line without text from before them, until that line is final."""

import pytest

from termvisor.terminal.row_window import LineAnchor
from termvisor.terminal.text_decoder import TextDecoder
from tests.unit.terminal.decoder_driver import build_decoder, build_delta, decode

MARK = b"\x1b]133;C\x07"
CASES = [
    ("an empty row", b"one\r\n" + MARK + b"two\r\n", 1),
    ("a row with text", b"$ ls" + MARK + b"\r\nfile\r\n", 1),
    ("a row whose text is wiped", b"$ ls" + MARK + b"\r\x1b[Kfile\r\n", 0),
    ("a row that is erased in part", b"$ ls" + MARK + b"\b\x1b[K\r\nfile\r\n", 1),
    ("a row that only holds blanks", b"one\r\n  " + MARK + b"two\r\n", 1),
    ("the last row of a wrapped line", b"x" * 30 + MARK + b"\r\nnext\r\n", 1),
    ("a row that is inserted above", b"one\r\n$ ls" + MARK + b"\r\nfile\x1b[H\x1b[Lzero\x1b[5;1H", 3),
    ("a row that is deleted", b"one\r\n$ ls" + MARK + b"\r\nfile\x1b[2;1H\x1b[M", 1),
    ("a row that moves down", b"$ ls" + MARK + b"\r\nfile\x1b[H\x1bM", 2),
    ("a cleared screen", b"$ clear\r\n" + MARK + b"\x1b[H\x1b[2J$ ", 1),
    ("the alternate screen", b"$ vi\r\n\x1b[?1049h~\r\n~" + MARK + b"\x1b[?1049l$ ", 1),
    ("a prompt behind the alternate screen", b"$ \x1b[?1049h~\r\n" + MARK + b"\x1b[?1049lback\r\nnext", 1),
    ("a padded row", b"x%" + b" " * 19 + b"\r \r" + MARK + b"\r\x1b[J$ ", 1),
    ("a long line", b"x" * 9000 + MARK + b"\r\nnext", 3),
    ("the end", b"one\r\ntwo\r\n" + MARK, 2),
]


@pytest.mark.parametrize(("data", "line"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_mark_is_anchored_to_a_line(data: bytes, line: int) -> None:
    offset = data.index(MARK) + len(MARK)
    current = decode(data, width=20, height=6)
    assert [anchor.line for anchor in current.current_anchors + current.anchors if anchor.mark == offset][-1:] == [line]
    final = decode(data + b"\r\n" * 9 + b"end", width=20, height=6)
    assert [anchor.line for anchor in final.anchors if anchor.mark == offset] == [line]


def test_an_anchor_is_final_when_its_line_settles() -> None:
    stage = TextDecoder(20, 2)
    assert stage.feed(build_delta(b"one\r\n" + MARK + b"two")).anchors == ()
    assert stage.locate_anchors() == [LineAnchor(13, 1)]
    assert stage.feed(build_delta(b"\r\n", 16)).anchors == ()
    assert stage.feed(build_delta(b"\r\n", 18)).anchors == (LineAnchor(13, 1),)
    assert stage.locate_anchors() == []


def test_only_marks_of_prompts_and_commands_are_anchored() -> None:
    stage = build_decoder(b"\x1b]0;t\x07\x07\x1b]133;A\x07\x1b]133;E;ls\x07\x1b]133;B\x07\x1b]133;C\x07\x1b]133;D\x07")
    assert len(stage.locate_anchors()) == 4


def test_output_that_consists_only_of_marks_keeps_the_last_ones() -> None:
    stage = build_decoder(MARK * 1000)
    anchors = stage.locate_anchors()
    assert len(anchors) == 64
    assert anchors[-1].mark == 1000 * len(MARK)


def test_the_end_of_the_epoch_is_an_anchor_behind_the_last_line() -> None:
    stage = build_decoder(b"one\r\ntwo")
    assert stage.finish(0).anchors == (LineAnchor(8, 2),)


def test_lines_are_counted_on_after_an_earlier_decoder() -> None:
    stage = TextDecoder(20, 6, offset=50, settled_count=7)
    stage.feed(build_delta(b"one\r\n" + MARK, 50))
    assert stage.locate_anchors() == [LineAnchor(63, 8)]
