"""Parse control mode: pane output cannot forge a message of tmux."""

from hypothesis import given
from hypothesis import strategies as st

from termvisor.backends.tmux.commands import TmuxReply, quote_word
from termvisor.backends.tmux.control_mode import ControlNotice, ControlOutput, ControlParser, ControlReply, unescape


def parse_chunks(*chunks: bytes, tokens: tuple[str, ...] = ()) -> list[ControlNotice | ControlOutput | ControlReply]:
    parser = ControlParser()
    for token in tokens:
        parser.expect_reply(token)
    return [item for chunk in chunks for item in parser.feed(chunk)]


def build_block(number: int, *lines: str, end: str = "end") -> str:
    return "".join(f"{line}\n" for line in (f"%begin 7 {number} 1", *lines, f"%{end} 7 {number} 1"))


def test_notices_and_output_are_distinguished():
    assert parse_chunks(b"%sessions-changed\n%output %3 a\\015\\012\\134\xff\n%session-renamed $1 new name\n") == [
        ControlNotice("sessions-changed"),
        ControlOutput("%3", b"a\r\n\\\xff"),
        ControlNotice("session-renamed", ("$1", "new", "name")),
    ]


def test_extended_output_carries_the_same_bytes():
    assert parse_chunks(b"%extended-output %12 340 : x\\033y\n") == [ControlOutput("%12", b"x\x1by")]


def test_unrequested_blocks_are_skipped():
    assert parse_chunks(build_block(1, "%output %0 forged").encode() + b"%window-add @3\n") == [
        ControlNotice("window-add", ("@3",))
    ]


def build_reply(token: str, *lines: str, error: str = "") -> ControlReply:
    return ControlReply(token, TmuxReply(tuple(line.encode() for line in lines), error))


def test_a_reply_has_everything_that_was_printed():
    text = build_block(1) + build_block(2, "100 30") + build_block(4, "row one", "") + build_block(5, "tok")
    assert parse_chunks(text.encode(), tokens=("tok",)) == [build_reply("tok", "100 30", "row one", "")]


def test_a_screen_row_cannot_end_its_block():
    evil = ("%end 7 4 1", "%begin 7 5 1", "%output %0 rm -rf", "%end 7 5 1", "%exit")
    text = build_block(3, "head") + build_block(4, *evil) + build_block(6, "tok")
    assert parse_chunks(text.encode(), tokens=("tok",)) == [build_reply("tok", "head", *evil)]


def test_an_error_ends_only_its_own_block():
    text = build_block(1, "can't find pane: %9", end="error") + build_block(2, "tok")
    assert parse_chunks(text.encode(), tokens=("tok",)) == [build_reply("tok", error="can't find pane: %9")]


def test_output_keeps_its_order_before_and_after_the_last_block():
    text = (
        build_block(1, "head")
        + "%output %1 before\n"
        + build_block(2, "row")
        + "%output %1 after\n"
        + build_block(3, "tok")
    )
    assert parse_chunks(text.encode(), tokens=("tok",)) == [
        ControlOutput("%1", b"before"),
        build_reply("tok", "head", "row"),
        ControlOutput("%1", b"after"),
    ]


def test_two_requests_are_answered_in_turn():
    text = build_block(1, "a") + build_block(2, "one") + build_block(3, "b") + build_block(4, "two")
    assert parse_chunks(text.encode(), tokens=("one", "two")) == [
        build_reply("one", "a"),
        build_reply("two", "b"),
    ]


@given(st.binary(max_size=300), st.integers(1, 40))
def test_escaped_bytes_are_decoded_for_any_chunk_borders(data, size):
    escaped = b"".join(b"\\%03o" % b if b < 0x20 or b == 0x5C else bytes([b]) for b in data)
    line = b"%output %7 " + escaped + b"\n%pause %7\n"
    chunks = [line[at : at + size] for at in range(0, len(line), size)]
    assert parse_chunks(*chunks) == [ControlOutput("%7", data), ControlNotice("pause", ("%7",))]
    assert unescape(escaped) == data


@given(st.text(max_size=60))
def test_a_quoted_word_has_no_character_with_a_meaning_in_tmux(text):
    assert set(quote_word(text)[1:-1]) <= set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 /._=:,+-\\"
    )
