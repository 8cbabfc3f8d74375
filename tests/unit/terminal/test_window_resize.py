"""A resized window joins and cuts its rows as tmux does, and rows that a pane showed before are not stored again."""

import pytest

from termvisor.terminal.text_decoder import TextDecoder
from tests.unit.terminal.decoder_driver import build_decoder, build_delta


def list_lines(stage: TextDecoder) -> list[str]:
    return [line.text for line in stage.list_provisional_lines()]


def feed(stage: TextDecoder, data: bytes) -> list[str]:
    return [line.text for line in stage.feed(build_delta(data, stage.offset)).lines]


def test_a_narrower_pane_wraps_lines_and_pushes_rows_out() -> None:
    stage = build_decoder(b"one\r\n0123456789abcdef\r\nend", 20, 4)
    assert [line.text for line in stage.resize(10, 4).lines] == ["one"]
    assert [line.text for line in stage.resize(5, 4).lines] == []
    assert list_lines(stage) == ["0123456789abcdef", "end"]
    assert (stage.cursor_text, stage.cursor_column) == ("end", 3)


def test_a_wider_pane_joins_rows() -> None:
    stage = build_decoder(b"0123456789abcdef\r\nend", 10, 4)
    stage.resize(20, 4)
    assert feed(stage, b"\x1b[A\rX") == []
    assert list_lines(stage) == ["X123456789abcdef", "end"]


def test_a_lower_pane_loses_rows_below_the_cursor_and_settles_rows_at_the_top() -> None:
    stage = build_decoder(b"a\r\nb\r\nc\r\nd\x1b[A", 10, 4)
    assert [line.text for line in stage.resize(10, 2).lines] == ["a"]
    assert list_lines(stage) == ["b", "c"]


def test_a_higher_pane_gets_rows_back_that_are_not_stored_again() -> None:
    stage = TextDecoder(10, 2)
    assert feed(stage, b"a\r\nb\r\nc\r\nd") == ["a", "b"]
    stage.resize(10, 4)
    assert list_lines(stage) == ["c", "d"]
    assert feed(stage, b"\r\ne\r\nf") == []
    assert feed(stage, b"\r\ng\r\nh\r\ni") == ["c", "d", "e"]


def test_a_higher_pane_gets_the_rows_of_an_unfinished_line_back() -> None:
    stage = build_decoder(b"0123456789abcdefghijklmno", 10, 1)
    stage.resize(10, 2)
    assert list_lines(stage) == ["0123456789abcdefghijklmno"]
    feed(stage, b"\x1b[A\rX")
    assert list_lines(stage) == ["0123456789Xbcdefghijklmno"]


def test_the_region_and_tab_stops_are_reset() -> None:
    stage = build_decoder(b"\x1b[2;3r\x1b[3g", 20, 4)
    stage.resize(30, 3)
    assert feed(stage, b"\x1b[Ha\tb\r\nc\r\nd\r\ne") == ["a       b"]


def test_a_resize_in_the_alternate_screen_takes_effect_on_return() -> None:
    stage = build_decoder(b"0123456789\r\nend\x1b[?1049h", 20, 4)
    stage.resize(5, 4)
    assert feed(stage, b"text\r\n\x1b[?1049l!") == []
    assert list_lines(stage) == ["0123456789", "end!"]


@pytest.mark.parametrize("size", [(1, 1), (0, 0), (3, 1), (200, 100)])
def test_any_size_is_possible(size: tuple[int, int]) -> None:
    stage = build_decoder("one\r\n日本語テキスト\r\nthree".encode(), 10, 4)
    stage.resize(*size)
    stage.resize(10, 4)
    feed(stage, b"\r\nfour\r\n")
    assert list_lines(stage)[-2:] == ["four", ""]


def test_marks_stay_with_their_line() -> None:
    stage = build_decoder(b"one\r\n0123456789abcdef\r\n\x1b]133;C\x07out", 20, 6)
    stage.resize(5, 6)
    assert [anchor.line for anchor in stage.locate_anchors()] == [2]


def seed(rows: list[str], x: int, y: int, begun: str = "", column: int = 0) -> TextDecoder:
    stage = TextDecoder(10, 4)
    stage.seed(rows, x, y, begun=begun, begun_column=column)
    return stage


def test_rows_that_were_shown_before_are_not_stored_again() -> None:
    stage = seed(["one", "two", "$ "], 2, 2)
    assert list_lines(stage) == []
    assert feed(stage, b"\r\nthree\r\nfour\r\nfive\r\nsix") == []
    assert list_lines(stage) == ["three", "four", "five", "six"]


def test_a_row_that_was_shown_before_is_stored_anew_when_it_is_written_to() -> None:
    stage = seed(["one", "two", "$ "], 2, 2)
    feed(stage, b"ls\r\nfile")
    assert list_lines(stage) == ["$ ls", "file"]
    assert (stage.cursor_text, stage.cursor_column) == ("file", 4)
    feed(stage, b"\x1b[Hone!")
    assert list_lines(stage) == ["one!", "$ ls", "file"]


def test_erasing_nothing_leaves_a_row_as_it_is() -> None:
    stage = seed(["one", "two", "$ "], 2, 2)
    feed(stage, b"\x1b[K\x1b[J\x1b[A\x1b[3C\x1b[K")
    assert list_lines(stage) == []


def test_the_unfinished_line_goes_on() -> None:
    stage = seed(["one", "two words"], 9, 1, "two words", 9)
    assert feed(stage, b"!\r\nthree") == []
    assert [(line.text, line.start) for line in stage.list_provisional_lines()] == [("two words!", 0), ("three", 3)]


def test_an_unfinished_line_of_several_rows_goes_on_at_its_column() -> None:
    stage = seed(["one", "0123456789abcdef"], 3, 2, "0123456789abcdef", 13)
    assert stage.cursor_column == 13
    feed(stage, b"X")
    assert list_lines(stage) == ["0123456789abcXef"]


def test_more_rows_than_the_pane_has_are_cut_at_the_top() -> None:
    stage = seed([f"line {number}" for number in range(9)], 6, 3)
    feed(stage, b"\x1b[HX")
    assert list_lines(stage) == ["Xine 5"]


def test_an_unfinished_line_in_an_empty_window_is_at_the_cursor() -> None:
    stage = seed([], 2, 3, "$ ", 2)
    assert feed(stage, b"ls\r\nfile\r\n") == []
    assert list_lines(stage) == ["$ ls", "file", ""]


def test_the_main_screen_behind_the_alternate_one_can_be_given() -> None:
    stage = TextDecoder(10, 4, is_alternate=True)
    stage.seed(["one", "$ vi"], 0, 2)
    feed(stage, b"text\r\n\x1b[?1049lbye")
    assert list_lines(stage) == ["bye"]
