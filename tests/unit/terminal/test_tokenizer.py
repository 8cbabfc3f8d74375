"""Split bytes into text, controls and sequences."""

import pytest

from termvisor.terminal.tokenizer import CSI_LIMIT, STRING_LIMIT, ReadMode, TerminalToken, Tokenizer, count_bytes


def tokenize(*chunks: bytes, mode: ReadMode = "exact") -> list[TerminalToken]:
    tokenizer = Tokenizer()
    found = []
    for chunk in chunks:
        tokenizer.feed(chunk)
        found += iter(lambda: tokenizer.next_token(mode), None)
    return found


def list_kinds(data: bytes, mode: ReadMode = "exact") -> list[str]:
    return [token.kind for token in tokenize(data, mode=mode)]


def test_a_csi_has_parameters_and_a_final_byte() -> None:
    assert tokenize(b"\x1b[?25;7h") == [TerminalToken("csi", 0, 8, "h", b"?25;7")]


@pytest.mark.parametrize("byte", [b"\x07", b"\b", b"\t", b"\r"])
def test_a_control_that_is_repeated_is_one_token(byte: bytes) -> None:
    assert tokenize(byte * 5 + b"x") == [
        TerminalToken("control", 0, 5, "", byte * 5),
        TerminalToken("text", 5, 6, "x", b"x"),
    ]


def test_the_last_of_several_carriage_returns_belongs_to_the_newline() -> None:
    assert [token.data for token in tokenize(b"\r\r\r\n")] == [b"\r\r", b"\r\n"]


@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\", b"\x9c"])
@pytest.mark.parametrize("start", [b"\x1b]", b"\x9d"])
def test_an_osc_ends_at_bel_or_st_in_seven_or_eight_bits(start: bytes, end: bytes) -> None:
    data = start + b"0;title" + end
    assert tokenize(data) == [TerminalToken("osc", 0, len(data), "", b"0;title")]


@pytest.mark.parametrize(
    "start", [b"\x1bP", b"\x1bX", b"\x1b^", b"\x1b_", b"\x1bk", b"\x90", b"\x98", b"\x9e", b"\x9f"]
)
def test_other_strings_end_at_st_only(start: bytes) -> None:
    assert list_kinds(start + b"payload\x07more\x1b\\x") == ["dcs", "text"]


def test_an_st_that_continues_a_character_does_not_end_a_string() -> None:
    assert tokenize(b"\x1b]0;\xe2\x9c\x93\x07")[0].data == b"0;\xe2\x9c\x93"


def test_newlines_belong_to_a_string() -> None:
    assert tokenize(b"\x1b]0;a\nb\x07")[0].data == b"0;a\nb"


@pytest.mark.parametrize("cancel", [b"\x18", b"\x1a"])
@pytest.mark.parametrize("begun", [b"\x1b[12", b"\x1b]0;t", b"\x1bPq", b"\x1b ", b"\x1bPtmux;x"])
def test_can_and_sub_abandon_a_sequence(begun: bytes, cancel: bytes) -> None:
    assert list_kinds(begun + cancel + b"x") == ["nothing", "text"]


@pytest.mark.parametrize("begun", [b"\x1b[12", b"\x1b]0;t", b"\x1bPq"])
def test_an_escape_that_is_not_st_abandons_a_sequence_and_begins_its_own(begun: bytes) -> None:
    assert list_kinds(begun + b"\x1b[A") == ["nothing", "csi"]


def test_a_control_abandons_a_csi_and_still_acts() -> None:
    assert [token.data for token in tokenize(b"\x1b[12\nx")] == [b"", b"\n", b"x"]


def test_a_passthrough_ends_at_the_st_whose_escape_is_not_doubled() -> None:
    payload = b"tmux;\x1b\x1b]0;t\x1b\x1b\\"
    assert tokenize(b"\x1bP" + payload + b"\x1b\\") == [TerminalToken("tmux", 0, len(payload) + 4, "", payload)]


def test_only_a_dcs_is_a_passthrough() -> None:
    assert list_kinds(b"\x1b_tmux;x\x1b\\") == ["dcs"]


def test_a_c1_byte_acts_as_its_escape() -> None:
    assert tokenize(b"\x9bA\x85\x8d") == [
        TerminalToken("csi", 0, 2, "A"),
        TerminalToken("esc", 2, 3, "E"),
        TerminalToken("esc", 3, 4, "M"),
    ]


def test_a_byte_that_continues_a_character_is_not_a_c1_control() -> None:
    assert [token.text for token in tokenize("⛛".encode())] == ["⛛"]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"caf\xe9 au", "caf� au"),
        (b"\xe2\x94x", "�x"),
        (b"\xf0\x9f\x98x", "�x"),
        (b"\xc0\xafx", "��x"),
        (b"\xff\xfex", "��x"),
        (b"\xe2\xe2x", "��x"),
    ],
)
def test_invalid_utf8_becomes_the_replacement_character(data: bytes, text: str) -> None:
    assert "".join(token.text for token in tokenize(data)) == text


def test_an_unfinished_character_waits_for_the_rest_of_it() -> None:
    assert [token.text for token in tokenize(b"a\xe2", b"\x94", b"\x80b")] == ["a", "─b"]


@pytest.mark.parametrize("data", [b"\x00\x01\x7f\x0b\x0c", b"\x80\x99", b"\x1b\x1b\x1b", b"\x18"])
def test_invisible_controls_are_dropped_as_one_token(data: bytes) -> None:
    assert list_kinds(data + b"x") in (["dropped", "text"], ["dropped", "esc"])


def test_c1_characters_are_controls_without_effect() -> None:
    assert list_kinds("a\u009bAb".encode()) == ["text", "control", "text"]


def test_lines_with_harmless_sequences_are_one_run() -> None:
    data = b"\x1b[1;31mred\x1b[0m\x1b[K\r\nnext\x1b(B\t\xe2\x94\x80\n"
    assert tokenize(data, mode="lines") == [TerminalToken("run", 0, len(data), data.decode(), data)]


def test_a_run_ends_before_broken_text_which_is_then_read_exactly() -> None:
    assert list_kinds(b"one\ntw\xffo\nthree\n", "lines") == ["run", "text", "control", "text", "control"]


def test_moves_in_an_empty_line_are_one_token() -> None:
    assert [(token.kind, token.end) for token in tokenize(b"\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[G", mode="fresh")] == [
        ("moves", 16),
        ("csi", 19),
    ]


def test_a_rejected_run_is_read_again_token_by_token() -> None:
    tokenizer = Tokenizer()
    tokenizer.feed(b"one\ntwo")
    run = tokenizer.next_token("lines")
    assert run is not None
    tokenizer.reread_exactly(run)
    assert [tokenizer.next_token("lines") for _ in range(4)] == [
        TerminalToken("text", 0, 3, "one", b"one"),
        TerminalToken("control", 3, 4, "", b"\n"),
        TerminalToken("text", 4, 7, "two", b"two"),
        None,
    ]


@pytest.mark.parametrize(
    ("begun", "limit"), [(b"\x1b]0;", STRING_LIMIT), (b"\x1bP", STRING_LIMIT), (b"\x1b[", CSI_LIMIT)]
)
def test_an_overlong_sequence_is_lost_and_skipped_to_its_end(begun: bytes, limit: int) -> None:
    tokenizer = Tokenizer()
    tokenizer.feed(begun + b"1" * limit)
    assert tokenizer.next_token("exact") == TerminalToken("lost", 0, len(begun) + limit)
    assert tokenizer.unfinished_bytes == b""
    tokenizer.feed(b"1" * 9 + b"\x18after")
    assert tokenizer.next_token("exact") == TerminalToken("skipped", len(begun) + limit, len(begun) + limit + 10)
    assert tokenizer.unfinished_bytes == b"after"


def test_a_sequence_is_lost_in_one_piece_as_in_many() -> None:
    assert list_kinds(b"\x1b]0;" + b"x" * STRING_LIMIT + b"\x07after") == ["lost", "text"]


def test_a_string_that_drips_in_is_whole_at_its_end() -> None:
    drops = [bytes([byte]) for byte in b"\x1b]0;long \xe2\x94\x80 title\x1b\\"]
    assert [token.data for token in tokenize(*drops)] == [b"0;long \xe2\x94\x80 title"]


def test_the_size_of_text_counts_broken_characters_as_they_were() -> None:
    data = b"a\xe2\x94b\xff\xe2\x94\x80c"
    text = data.decode("utf-8", "replace")
    assert [count_bytes(data, text[:count]) for count in range(len(text) + 1)] == [0, 1, 3, 4, 5, 8, 9]
