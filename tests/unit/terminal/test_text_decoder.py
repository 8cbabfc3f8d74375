"""Decode bytes to lines and marks, for any chunk borders and restarts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.errors import InternalError
from termvisor.model.ids import EpochId
from termvisor.model.terminal.output import Mark
from termvisor.terminal.row_window import LineAnchor, SettledLine
from termvisor.terminal.text_decoder import DecodedOutput, TextDecoder, build_blocks
from tests.unit.terminal.decoder_driver import build_decoder, build_delta, decode, decode_with_restarts

EVERY_MARK = (
    b"\x1b]0;title\x07\x1b]7;file://h/tmp\x1b\\\x1b]133;A\x07$ \x1b]133;B;aid=1\x07\x1b]133;E;ls;nonce=5\x07ls\r\n"
    b"\x1b]133;C\x07\x1b[?2004;2026h\xe2\x94\x80\xe6\x97\xa5\x1b[?2026l\x1b[?2004l\x07\rab\x1b[K"
    b"\x1b]1337;SetUserVar=v=e30=\x07\x1b]133;P;k=i\x1b\\\x1b]633;D;7\x07\x1b]9;hi\x07\x1b]9;4;1;5\x07\x1b]99;;k\x1b\\"
    b"\x1b]777;notify;t;b\x07\x1b]2;x\x07\x1b]7501;state=idle\x07\xffz\n\x1bPtmux;\x1b\x1b]2;in\x07\x1b\\"
    b"\x1b[?1049hgone\n\x1b[H\x1b[?1049l\x1b[!p\x1bcend\x1b[Aup\x1b_apc\x1b\\\x1b]7770;end;3\x1b\\bye"
)
SECOND = 1_000_000_000
KINDS = [
    *("title", "cwd", "prompt_start", "input_start", "command_line", "command_start", "paste_on", "sync_on"),
    *("sync_off", "paste_off", "bell", "user_var", "prompt_property", "command_end", "notification", "progress"),
    *("notification", "notification", "title", "agent", "title", "alt_screen_on", "alt_screen_off", "reset", "reset"),
    "end_of_program",
]


def test_every_kind_of_mark_is_decoded() -> None:
    decoded = decode(EVERY_MARK)
    assert decoded.kinds == KINDS
    assert decoded.texts == ["$ ls", "ab�z", "endupbye"]


def test_chunk_borders_do_not_change_the_output() -> None:
    expected = decode(EVERY_MARK)
    for cut in range(len(EVERY_MARK) + 1):
        assert decode(EVERY_MARK, [cut]) == decode_with_restarts(EVERY_MARK, [cut]) == expected, cut


def test_decoding_byte_by_byte_gives_the_same_output() -> None:
    assert decode(EVERY_MARK, range(1, len(EVERY_MARK))) == decode(EVERY_MARK)
    assert decode_with_restarts(EVERY_MARK, range(1, len(EVERY_MARK))) == decode(EVERY_MARK)


def test_the_offset_of_a_mark_is_just_after_its_sequence() -> None:
    assert [mark.offset for mark in decode(b"ab\x07\x1b]2;t\x1b\\c\x1b[?2004h").marks] == [3, 10, 19]


def test_the_alternate_screen_yields_no_lines() -> None:
    stage = TextDecoder(80, 2)
    opening = b"before\r\n\x1b[?1049hinside\r\nmore\r\n\r\n\r\n\x1b]2;t\x07"
    output = stage.feed(build_delta(opening))
    assert output.lines == ()
    assert [mark.kind for mark in output.marks] == ["alt_screen_on", "title"]
    assert stage.is_alternate
    assert stage.cursor_text == ""
    assert [line.text for line in stage.list_provisional_lines()] == ["before", ""]
    closing = stage.feed(build_delta(b"x\x1b[?1049lafter\r\n", len(opening)))
    assert [line.text for line in closing.lines] == ["before"]
    assert not stage.is_alternate


def test_a_stream_may_begin_in_the_alternate_screen() -> None:
    stage = TextDecoder(80, 24, is_alternate=True)
    stage.feed(build_delta(b"inside\r\n\x1b[?1049lafter\r\n"))
    assert [line.text for line in stage.finish(0).lines] == ["after"]


def test_a_reset_stays_in_the_alternate_screen_as_in_tmux() -> None:
    stage = TextDecoder(80, 24, is_alternate=True)
    stage.feed(build_delta(b"\x1b[!p\x1bc"))
    assert stage.is_alternate


def test_passthrough_gives_marks_but_no_text_and_no_modes() -> None:
    stage = TextDecoder(80, 24)
    wrapped = b"\x1bPtmux;text\x07\x1b\x1b[?1049h\x1b\x1b]9;hi\x1b\x1b\\\x1b\\"
    output = stage.feed(build_delta(wrapped + b"x\r\n"))
    assert [(mark.kind, mark.offset) for mark in output.marks] == [
        ("bell", len(wrapped)),
        ("notification", len(wrapped)),
    ]
    assert [line.text for line in stage.list_provisional_lines()] == ["x", ""]
    assert not stage.is_alternate


def test_passthrough_is_unwrapped_once_only() -> None:
    inner = b"\x1bPtmux;\x1b\x1b]2;deep\x07\x1b\\"
    outer = b"\x1bPtmux;" + inner.replace(b"\x1b", b"\x1b\x1b") + b"\x1b\\"
    assert decode(outer + b"x\n").marks == ()
    assert decode(inner).kinds == ["title"]


def test_the_text_at_the_cursor_is_its_whole_line() -> None:
    stage = build_decoder(b"done\r\n\x1b[32m50%\r\xe2\x94\x80\xe2\x94")
    assert (stage.cursor_text, stage.cursor_column) == ("─0%", 1)
    stage = build_decoder(b"0123456789abc", width=10, height=1)
    assert (stage.cursor_text, stage.cursor_column) == ("0123456789abc", 13)


def test_finish_settles_the_rest_once() -> None:
    stage = build_decoder(b"rest\xe2\x94")
    output = stage.finish(9)
    assert [(line.text, line.start, line.end) for line in output.lines] == [("rest�", 0, 6)]
    assert output.anchors == (LineAnchor(6, 1),)
    assert stage.finish(9).lines == ()
    assert (stage.offset, stage.settled_count) == (6, 1)


def test_finish_drops_an_unfinished_sequence() -> None:
    assert decode(b"text\x1b]0;tit").texts == ["text"]
    assert decode(b"\x1b[?1049hinside").texts == []


def test_a_string_ends_after_five_seconds() -> None:
    stage = TextDecoder(80, 24)
    stage.feed(build_delta(b"one\x1b]0;tit", 0, 1 * SECOND))
    stage.feed(build_delta(b"le", 10, 6 * SECOND))
    stage.feed(build_delta(b" two", 12, 6 * SECOND + 1))
    assert stage.cursor_text == "one two"


def test_a_string_that_is_lost_ends_after_five_seconds() -> None:
    stage = TextDecoder(80, 24)
    stage.feed(build_delta(b"\x1b_" + b"x" * 99_000, 0, 1 * SECOND))
    stage = TextDecoder.load(stage.snapshot())
    stage.feed(build_delta(b"text", 99_002, 7 * SECOND))
    assert stage.cursor_text == "text"


def test_a_hundred_megabytes_of_title_are_not_kept() -> None:
    stage = build_decoder(b"seen\x1b]0;")
    lump, offset = b"x" * 1_000_000, 8
    output = [stage.feed(build_delta(lump, offset + number * len(lump))) for number in range(100)]
    offset += 100 * len(lump)
    assert all(part == DecodedOutput() for part in output)
    assert len(stage.snapshot()) < 1000
    after = stage.feed(build_delta(b"\x07after", offset))
    assert (stage.cursor_text, after.marks) == ("seenafter", ())


def test_a_decoder_keeps_only_an_unfinished_sequence() -> None:
    stage = build_decoder(b"line\r\n" * 10_000 + b"\x1b[")
    assert stage._tokenizer._data == b"\x1b["


def test_consecutive_bells_are_one_mark_for_any_chunk_borders() -> None:
    stage = TextDecoder(80, 24)
    assert stage.feed(build_delta(b"a" + b"\x07" * 1000)).marks == (Mark(kind="bell", offset=2),)
    again = TextDecoder.load(stage.snapshot())
    assert again.feed(build_delta(b"\x07b\x07", 1001)).marks == (Mark(kind="bell", offset=1004),)


def test_a_hole_between_two_deltas_is_an_internal_error() -> None:
    stage = build_decoder(b"ab\x1b")
    with pytest.raises(InternalError):
        stage.feed(build_delta(b"c", 4))


def test_the_column_of_the_input_is_that_of_its_line() -> None:
    (mark,) = decode(b"0123456789ab$ \x1b]133;B\x07", width=10).marks
    assert (mark.kind, mark.column) == ("input_start", 14)


EPOCH = EpochId(3)


def build_lines(*times: int) -> list[SettledLine]:
    return [SettledLine(f"line {number}", number * 10, number * 10 + 9, at) for number, at in enumerate(times)]


def list_texts(lines: list[SettledLine]) -> list[str]:
    return [line.text for line in lines]


def test_no_lines_give_no_block():
    assert list(build_blocks(EPOCH, [], [])) == []


def test_a_block_spans_its_lines():
    lines = build_lines(5, 6, 7)
    (block,) = build_blocks(EPOCH, lines, ["a", "b", "c"])
    assert (block.epoch, block.start, block.end, block.at, block.until) == (EPOCH, 0, 29, 5, 7)
    assert block.lines == ("a", "b", "c")


def test_lines_of_different_seconds_do_not_share_a_block():
    lines = build_lines(0, SECOND // 2, 2 * SECOND)
    assert [len(block.lines) for block in build_blocks(EPOCH, lines, list_texts(lines))] == [2, 1]


def test_a_block_holds_at_most_32_lines_and_about_two_kilobytes():
    lines = build_lines(*[0] * 70)
    assert [len(block.lines) for block in build_blocks(EPOCH, lines, list_texts(lines))] == [32, 32, 6]
    assert [len(block.lines) for block in build_blocks(EPOCH, lines[:4], ["x" * 1500] * 4)] == [2, 2]


@given(st.lists(st.tuples(st.text(max_size=900), st.integers(0, 5 * SECOND)), max_size=80))
def test_blocks_contain_every_line_once_in_order(lines_with_times):
    times = sorted(at for _, at in lines_with_times)
    lines = build_lines(*times)
    blocks = list(build_blocks(EPOCH, lines, [text for text, _ in lines_with_times]))
    assert [text for block in blocks for text in block.lines] == [text for text, _ in lines_with_times]
    assert all(block.until - block.at <= SECOND for block in blocks)
