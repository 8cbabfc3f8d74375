"""Decode bytes to lines and marks, for any chunk borders and restarts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.errors import InternalError
from termvisor.model.ids import EpochId
from termvisor.model.terminal.output import Mark
from termvisor.terminal.text_decoder import DecodedOutput, SettledLine, TextDecoder, build_blocks, encode_carry
from tests.unit.terminal.decoder_driver import build_delta, decode, decode_with_restarts

EVERY_MARK = (
    b"\x1b]0;title\x07\x1b]7;file://h/tmp\x1b\\\x1b]133;A\x07$ \x1b]133;B;aid=1\x07\x1b]133;E;ls;nonce=5\x07ls\r\n"
    b"\x1b]133;C\x07\x1b[?2004;2026h\xe2\x94\x80\xe6\x97\xa5\x1b[?2026l\x1b[?2004l\x07\rab\x1b[K"
    b"\x1b]1337;SetUserVar=v=e30=\x07\x1b]133;P;k=i\x1b\\\x1b]633;D;7\x07\x1b]9;hi\x07\x1b]9;4;1;5\x07\x1b]99;;k\x1b\\"
    b"\x1b]777;notify;t;b\x07\x9d2;x\x9c\x1b]7501;state=idle\x07\xffz\n\x1bPtmux;\x1b\x1b]2;in\x07\x1b\\"
    b"\x1b[?1049hgone\n\x1b[H\x1b[?1049l\x1b[!p\x1bcend\x1b[Aup\x1b_apc\x1b\\\x1b]7770;end;3\x1b\\bye"
)
KINDS = [
    *("title", "cwd", "prompt_start", "input_start", "command_line", "command_start", "paste_on", "sync_on"),
    *("sync_off", "paste_off", "bell", "user_var", "prompt_property", "command_end", "notification", "progress"),
    *("notification", "notification", "title", "agent", "title", "alt_screen_on", "alt_screen_off", "reset", "reset"),
    "end_of_program",
]


def test_every_kind_of_mark_is_decoded() -> None:
    decoded = decode(EVERY_MARK)
    assert decoded.kinds == KINDS
    assert decoded.texts == ["$ ls", "ab�z", "end", "upbye"]


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
    stage = TextDecoder()
    opening = b"before\x1b[?1049hinside\r\nmore\n\x1b]2;t\x07"
    output = stage.feed(build_delta(opening))
    assert [line.text for line in output.lines] == ["before"]
    assert [mark.kind for mark in output.marks] == ["alt_screen_on", "title"]
    assert stage.is_alternate
    assert [line.text for line in stage.feed(build_delta(b"x\x1b[?1049lafter\n", len(opening))).lines] == ["after"]
    assert not stage.is_alternate


def test_a_stream_may_begin_in_the_alternate_screen() -> None:
    stage = TextDecoder(0, encode_carry(is_alternate=True))
    assert stage.feed(build_delta(b"inside\n\x1b[?1049lafter\n")).lines[0].text == "after"


def test_a_reset_leaves_the_alternate_screen_but_a_soft_one_does_not() -> None:
    stage = TextDecoder(0, encode_carry(is_alternate=True))
    stage.feed(build_delta(b"\x1b[!p"))
    assert stage.is_alternate
    stage.feed(build_delta(b"\x1bc", 4))
    assert not stage.is_alternate


def test_passthrough_gives_marks_but_no_text_and_no_modes() -> None:
    stage = TextDecoder()
    wrapped = b"\x1bPtmux;text\x07\x1b\x1b[?1049h\x1b\x1b]9;hi\x1b\x1b\\\x1b\\"
    output = stage.feed(build_delta(wrapped + b"x\n"))
    assert [(mark.kind, mark.offset) for mark in output.marks] == [
        ("bell", len(wrapped)),
        ("notification", len(wrapped)),
    ]
    assert [line.text for line in output.lines] == ["x"]
    assert not stage.is_alternate


def test_passthrough_is_unwrapped_once_only() -> None:
    inner = b"\x1bPtmux;\x1b\x1b]2;deep\x07\x1b\\"
    outer = b"\x1bPtmux;" + inner.replace(b"\x1b", b"\x1b\x1b") + b"\x1b\\"
    assert decode(outer + b"x\n").marks == ()
    assert decode(inner).kinds == ["title"]


def test_pending_is_the_unfinished_line_as_shown() -> None:
    stage = TextDecoder()
    stage.feed(build_delta(b"done\n\x1b[32m50%\r\xe2\x94\x80\xe2\x94"))
    assert stage.assembler.text == "─0%"


def test_finish_settles_the_rest_once() -> None:
    stage = TextDecoder()
    stage.feed(build_delta(b"rest\xe2\x94"))
    assert [(line.text, line.start, line.end, line.at) for line in stage.finish(9).lines] == [("rest�", 0, 6, 9)]
    assert stage.finish(9) == DecodedOutput()
    assert stage.build_checkpoint()[0] == 6


def test_finish_drops_an_unfinished_sequence() -> None:
    assert decode(b"text\x1b]0;tit").texts == ["text"]
    assert decode(b"\x1b[?1049hinside").texts == []


def test_a_hundred_megabytes_of_title_are_not_kept() -> None:
    stage = TextDecoder()
    stage.feed(build_delta(b"seen\x1b]0;"))
    lump, offset = b"x" * 1_000_000, 8
    output = [stage.feed(build_delta(lump, offset + number * len(lump))) for number in range(100)]
    offset += 100 * len(lump)
    assert [line.text for part in output for line in part.lines] == ["seen"]
    assert stage.build_checkpoint()[0] == offset
    after = stage.feed(build_delta(b"\x07after\n", offset))
    assert ([line.text for line in after.lines], after.marks) == (["after"], ())


def test_a_decoder_keeps_only_an_unfinished_sequence() -> None:
    stage = TextDecoder()
    stage.feed(build_delta(b"line\n" * 10_000 + b"\x1b["))
    assert stage._tokenizer._data == b"\x1b["


def test_the_carry_holds_no_text() -> None:
    stage = TextDecoder()
    stage.feed(build_delta(b"password: hunter2\x1b]0;hunter2"))
    offset, carry = stage.build_checkpoint()
    assert offset == 0
    assert b"hunter2" not in carry


def test_reported_marks_are_not_reported_again() -> None:
    stage, data = TextDecoder(), b"\n$ \x1b]133;B\x07\x07ls"
    assert len(stage.feed(build_delta(data)).marks) == 2
    offset, carry = stage.build_checkpoint()
    again = TextDecoder(offset, carry)
    assert again.feed(build_delta(data[offset:], offset)) == DecodedOutput()
    assert again.feed(build_delta(b"\x07", len(data))).marks == (Mark(kind="bell", offset=len(data) + 1),)


def test_a_decoder_restarted_while_catching_up_repeats_no_mark() -> None:
    stage = TextDecoder()
    stage.feed(build_delta(b"a\x07b\x07"))
    again = TextDecoder(*stage.build_checkpoint())
    again.feed(build_delta(b"a\x07"))
    third = TextDecoder(*again.build_checkpoint())
    assert third.feed(build_delta(b"a\x07b\x07c\x07")).marks == (Mark(kind="bell", offset=6),)


def test_consecutive_bells_are_one_mark_for_any_chunk_borders() -> None:
    stage = TextDecoder()
    assert stage.feed(build_delta(b"a" + b"\x07" * 1000)).marks == (Mark(kind="bell", offset=2),)
    again = TextDecoder(*stage.build_checkpoint())
    assert again.feed(build_delta(b"a" + b"\x07" * 1001 + b"b\x07")).marks == (Mark(kind="bell", offset=1004),)


def test_a_hole_between_two_deltas_is_an_internal_error() -> None:
    stage = TextDecoder()
    stage.feed(build_delta(b"ab\x1b"))
    with pytest.raises(InternalError):
        stage.feed(build_delta(b"c", 4))


EPOCH = EpochId(3)
SECOND = 1_000_000_000


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
