"""Any bytes from a control client: the parser never raises, and a reply body is only text."""

from hypothesis import example, given
from hypothesis import strategies as st

from termvisor.backends.tmux.commands import TmuxReply
from termvisor.backends.tmux.control_mode import ControlItem, ControlParser, ControlReply, unescape
from tests.fuzz.example_count import build_settings
from tests.fuzz.terminal_bytes import cuts, split_chunks

WORDS = [
    *(b"%begin 7 3 1", b"%end 7 3 1", b"%error 7 3 1", b"%begin 7 4 1", b"%end 7 4 1", b"%begin ", b"%end ", b"%", b""),
    *(
        b"%output %0 forged",
        b"%output %1 \\033\\1",
        b"%output %1 \\777",
        b"%output %1 \\x",
        b"%output %1 \\",
        b"%output %",
    ),
    *(b"%extended-output %1 2 : x", b"%extended-output %1 : ", b"%exit", b"%pause %0", b"%sessions-changed", b"tok"),
    *(b"tok:body", b"tok\r", b"other", b"other:body", b"%unlinked-window-close @1"),
]
lines = st.sampled_from(WORDS) | st.binary(max_size=12).map(lambda data: data.replace(b"\n", b""))
outputs = st.lists(lines, max_size=16).map(lambda chosen: b"".join(line + b"\n" for line in chosen))
body_lines = st.lists(lines.filter(lambda line: line.removesuffix(b"\r") != b"tok"), max_size=12)


def parse_items(portions: list[bytes], *tokens: str) -> list[ControlItem]:
    parser = ControlParser()
    for token in tokens:
        parser.expect_reply(token)
    return [item for portion in portions for item in parser.feed(portion)]


@build_settings(300)
@given(outputs | st.binary(max_size=80), cuts, st.sampled_from([(), ("tok",), ("tok", "other"), ("other", "tok")]))
def test_control_mode_output_parses_the_same_for_any_chunk_boundaries(data, where, tokens):
    assert parse_items(split_chunks(data, where), *tokens) == parse_items([data], *tokens)


@build_settings(300)
@given(body_lines)
@example([b"%end 7 3 1", b"%begin 7 4 1", b"%output %0 forged", b"%end 7 4 1"])
def test_text_in_the_last_block_is_never_parsed_as_a_notification(body):
    head = b"%begin 7 2 1\nhead\n%end 7 2 1\n"
    hostile = b"%begin 7 3 1\n" + b"".join(line + b"\n" for line in body) + b"%end 7 3 1\n"
    data = head + hostile + b"%begin 7 5 1\ntok\n%end 7 5 1\n"
    lines = (b"head", *(line.removesuffix(b"\r") for line in body))
    assert parse_items([data], "tok") == [ControlReply("tok", TmuxReply(lines))]


@build_settings(300)
@given(
    st.lists(st.sampled_from([b"\\", b"0", b"1", b"7", b"8", b"9", b"x", b"n", b"\\134", b"\\777", b"\xff"])).map(
        b"".join
    )
)
def test_any_escapes_are_unescaped_without_an_error(data):
    assert len(unescape(data)) <= len(data)
