"""Split bytes into runs of text, controls and sequences."""

import pytest

from termvisor.terminal.tokenizer import CSI_LIMIT, STRING_LIMIT, ReadMode, TerminalToken, Tokenizer


def tokenize(*chunks: bytes, mode: ReadMode = "any") -> list[TerminalToken]:
    tokenizer = Tokenizer()
    found = []
    for chunk in chunks:
        tokenizer.feed(chunk, 0)
        found += iter(lambda: tokenizer.next_token(mode), None)
    return found


def list_kinds(data: bytes, mode: ReadMode = "any") -> list[str]:
    return [token.kind for token in tokenize(data, mode=mode)]


def test_a_csi_has_parameters_and_a_final_byte() -> None:
    assert tokenize(b"\x1b[?1;7h") == [TerminalToken("csi", 0, 7, "h", b"?1;7")]


def test_consecutive_movements_are_one_token() -> None:
    data = b"\x1b[2K\x1b[1A\x1b[2K\x1b[H"
    assert tokenize(data + b"x")[0] == TerminalToken("moves", 0, len(data), "", data)


def test_a_sequence_that_repeats_a_character_stands_alone() -> None:
    assert list_kinds(b"\x1b[2A\x1b[3b\x1b[A") == ["moves", "csi", "moves"]


@pytest.mark.parametrize("byte", [b"\x07", b"\b", b"\t"])
def test_a_control_that_is_repeated_is_one_token(byte: bytes) -> None:
    assert [(token.kind, token.data) for token in tokenize(byte * 5 + b"x")] == [("control", byte * 5), ("run", b"x")]


@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\"])
def test_an_osc_ends_at_bel_or_st(end: bytes) -> None:
    data = b"\x1b]0;title" + end
    assert tokenize(data) == [TerminalToken("osc", 0, len(data), "", b"0;title")]


@pytest.mark.parametrize("start", [b"\x1bX", b"\x1b^", b"\x1b_", b"\x1bk"])
def test_other_strings_end_at_st_only(start: bytes) -> None:
    assert list_kinds(start + b"payload\x07more\x1b\\x") == ["string", "run"]


@pytest.mark.parametrize("byte", range(0x80, 0xA0))
def test_no_byte_is_an_8_bit_control(byte: int) -> None:
    assert [token.text for token in tokenize(b"a" + bytes([byte]) + b"bc\x07")] == ["a\udcffbc", ""]


def test_newlines_belong_to_a_string() -> None:
    assert tokenize(b"\x1b]0;a\nb\x07")[0].data == b"0;a\nb"


@pytest.mark.parametrize("cancel", [b"\x18", b"\x1a"])
@pytest.mark.parametrize("begun", [b"\x1b[12", b"\x1b]0;t", b"\x1b_t", b"\x1bP1", b"\x1b "])
def test_can_and_sub_abandon_a_sequence(begun: bytes, cancel: bytes) -> None:
    assert list_kinds(begun + cancel + b"x") == ["nothing", "run"]


@pytest.mark.parametrize("begun", [b"\x1b[12", b"\x1b]0;t", b"\x1b_t", b"\x1bP1"])
def test_an_escape_that_is_not_st_abandons_a_sequence_and_begins_its_own(begun: bytes) -> None:
    assert list_kinds(begun + b"\x1b[A") == ["nothing", "moves"]


def test_an_escape_and_cancel_bytes_are_content_of_a_dcs() -> None:
    assert list_kinds(b"\x1bPq\x18a\x1b[Ab\x1b\x1b\\c\x1b\\x") == ["dcs", "run"]


def test_a_control_inside_a_csi_is_kept_with_it() -> None:
    assert tokenize(b"\x1b[1\n2\x7f;\xff3\tm")[0] == TerminalToken("csi", 0, 11, "m", b"12;3", b"\n\t")
    assert tokenize(b"\x1b\n[1A")[0] == TerminalToken("csi", 0, 5, "A", b"1", b"\n")


def test_a_passthrough_ends_at_the_st_whose_escape_is_not_doubled() -> None:
    payload = b"tmux;\x1b\x1b]0;t\x1b\x1b\\"
    assert tokenize(b"\x1bP" + payload + b"\x1b\\") == [TerminalToken("dcs", 0, len(payload) + 4, "", payload)]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"caf\xe9 au", "caf? au"),
        (b"\xe2\x94x", "?x"),
        (b"\xf0\x9f\x98x", "?x"),
        (b"\xc0\xafx", "??x"),
        (b"\xff\xfex", "??x"),
        (b"\xe2\xe2x", "?x"),
        (b"\xe6\xe6\x97\xa5x", "??x"),
        (b"\xe6\x97\xe6\x97\xa5\xe6\x97\xa5x", "???日x"),
        (b"\xed\xa0\x80x", "?x"),
    ],
)
def test_invalid_utf8_is_dropped_as_in_tmux(data: bytes, text: str) -> None:
    whole = "".join(token.text for token in tokenize(data))
    drops = "".join(token.text for token in tokenize(*(bytes([byte]) for byte in data)))
    assert whole.replace("\udcff", "?") == drops.replace("\udcff", "?") == text


def test_an_unfinished_character_waits_for_the_rest_of_it() -> None:
    assert [token.text for token in tokenize(b"a\xe2", b"\x94", b"\x80b")] == ["a", "─b"]


@pytest.mark.parametrize("data", ["\x80", "\x9b\x85", "\u2028\u2029"])
def test_hidden_characters_are_one_token(data: str) -> None:
    assert list_kinds(f"a{data}b".encode()) == ["run", "nothing", "run"]


def test_lines_with_harmless_sequences_are_one_run() -> None:
    data = b"\x1b[1;31mred\x1b[0m\x1b[K\r\nnext\x1b(B\t\xe2\x94\x80\r\n"
    assert tokenize(data, mode="plain") == [TerminalToken("run", 0, len(data), data.decode(), data)]


def test_a_run_anywhere_ends_before_an_erasure() -> None:
    assert [token.data for token in tokenize(b"one\r\x1b[mtwo\n\x1b[Kthree")] == [
        b"one\r\x1b[mtwo\n",
        b"\x1b[K",
        b"three",
    ]


def test_the_alternate_screen_is_skipped_up_to_a_mark() -> None:
    data = b"\x1b[3;4Htext\xff\r\n\x1b[K\x1b[0m\x1b[?25l"
    assert tokenize(data + b"\x1b[2;9r\x07", mode="marks") == [
        TerminalToken("run", 0, len(data)),
        TerminalToken("moves", len(data), len(data) + 6, "", b"\x1b[2;9r"),
        TerminalToken("control", len(data) + 6, len(data) + 7, "", b"\x07"),
    ]


def test_a_token_can_be_read_again() -> None:
    tokenizer = Tokenizer(100)
    tokenizer.feed(b"one\r\x1b[Ktwo", 0)
    token = tokenizer.read_erased()
    assert token is not None
    tokenizer.reread(token)
    assert tokenizer.next_token("any") == TerminalToken("run", 100, 104, "one\r", b"one\r")


@pytest.mark.parametrize(
    ("begun", "limit"), [(b"\x1b]0;", STRING_LIMIT), (b"\x1bP", STRING_LIMIT), (b"\x1b[", CSI_LIMIT)]
)
def test_an_overlong_sequence_is_lost_and_skipped_to_its_end(begun: bytes, limit: int) -> None:
    tokenizer = Tokenizer()
    tokenizer.feed(begun + b"1" * limit, 0)
    assert tokenizer.next_token("any") == TerminalToken("lost", 0, len(begun) + limit)
    assert tokenizer.unfinished_bytes == b""
    tokenizer.feed(b"1" * 9 + b"\x18after", 0)
    lost = [tokenizer.next_token("any"), tokenizer.next_token("any")]
    assert [token and token.kind for token in lost] == ["lost", "nothing"]
    assert tokenizer.unfinished_bytes == b"after"


def test_a_sequence_is_lost_in_one_piece_as_in_many() -> None:
    assert list_kinds(b"\x1b]0;" + b"x" * STRING_LIMIT + b"\x07after") == ["lost", "nothing", "run"]


def test_a_string_that_drips_in_is_whole_at_its_end() -> None:
    drops = [bytes([byte]) for byte in b"\x1b]0;long \xe2\x94\x80 title\x1b\\"]
    assert [token.data for token in tokenize(*drops)] == [b"0;long \xe2\x94\x80 title"]


@pytest.mark.parametrize(("later", "kinds"), [(5_000_000_000, []), (5_000_000_001, ["run"])])
def test_a_string_is_dropped_after_five_seconds(later: int, kinds: list[str]) -> None:
    tokenizer = Tokenizer()
    tokenizer.feed(b"\x1b", 1)
    assert tokenizer.next_token("any") is None
    tokenizer.feed(b"_title", 2)
    assert tokenizer.next_token("any") is None
    tokenizer.feed(b"text", 2 + later)
    assert [token.kind for token in iter(lambda: tokenizer.next_token("any"), None)] == kinds
