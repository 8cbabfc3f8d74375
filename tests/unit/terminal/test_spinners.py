"""Rows that are written, erased and rewritten decode the same bundled and byte by byte."""

from hypothesis import given
from hypothesis import strategies as st

from termvisor.terminal.tokenizer import Tokenizer
from tests.property.test_chunk_splits import small_limits
from tests.unit.terminal.decoder_driver import decode

_ERASERS = [b"\r\x1b[2K", b"\r\x1b[K", b"\r\x1b[0K", b"\r\r\x1b[2K", b"\r", b"\x1b[2K", b"\x1b[1K"]
_WORDS = [
    b"thinking",
    b"| ",
    b" " * 9,
    b"\t",
    b"\r\n",
    b"\n",
    b"\x08",
    "✻ 渡 ".encode(),
    b"\xc2\x85",
    b"\xe6\xb8",
    b"\x9b2K",
    "e\u0301\u200d".encode(),
    b"\x1b[36m",
    b"\x1b[m",
    b"\x1b[?25l",
    b"\x1b7",
    b"\x1b8",
    b"\x1b[5G",
    b"\x1b[A",
    b"\x07",
    b"x" * 30,
    b"\x1b[" + b"0;" * 12 + b"m",
]
spinning = st.lists(st.sampled_from(_WORDS) | st.sampled_from(_ERASERS), max_size=40).map(b"".join)


@given(spinning, st.sampled_from([10, 40, 80]))
def test_a_spinner_decodes_the_same_however_it_is_cut(data: bytes, width: int) -> None:
    assert decode(data, width=width) == decode(data, range(1, len(data)), width=width)


@given(spinning, st.sampled_from([10, 80]))
def test_a_spinner_decodes_the_same_with_small_limits(data: bytes, width: int) -> None:
    with small_limits():
        assert decode(data, width=width) == decode(data, range(1, len(data)), width=width)


def test_only_the_last_text_of_a_spinner_is_kept() -> None:
    assert decode(b"".join(b"\r\x1b[2K\x1b[36m%d\x1b[0m thinking" % n for n in range(9)) + b"\r\ndone\r\n").texts == [
        "8 thinking",
        "done",
    ]


def test_erased_rows_are_one_token() -> None:
    tokens = Tokenizer()
    tokens.feed(b"one\r\x1b[2Ktwo\r\x1b[Kthree four", 0)
    erased, kept = tokens.read_erased(), tokens.next_token("plain")
    assert (erased and erased.kind, kept and kept.text) == ("erased", "three four")


def test_an_erased_text_that_is_longer_than_its_row_leaves_its_first_row() -> None:
    data = b"x" * 100 + b" " * 30 + b"\r\x1b[2Knew\r\n"
    assert decode(data).texts == decode(data, range(1, len(data))).texts == ["x" * 80, "new"]


def test_a_spinner_that_never_ends_its_row_is_one_line() -> None:
    turn = b"\r\x1b[2Kworking on something for a while"
    assert decode(turn * 5000).texts == ["working on something for a while"]
