"""Decoding depends only on the bytes, not on chunk boundaries or restarts."""

from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from pytest import MonkeyPatch

from termvisor.terminal import line_assembler, text_decoder, tokenizer
from tests.fuzz.example_count import build_settings
from tests.unit.terminal.decoder_driver import decode, decode_with_restarts

PIECES = [
    *(bytes([byte]) for byte in range(256)),
    *(
        b"word",
        b"  ",
        b"\r\n",
        b"a line\r\n",
        b"another\n",
        b"x" * 30,
        b"\xe2\x94\x80",
        b"\xf0\x9f\x98\x80",
        b"\xe6\x97\xa5",
        b"\xc2\x9b",
    ),
    *(
        b"\x1b[K",
        b"\x1b[1K",
        b"\x1b[2K",
        b"\x1b[3C",
        b"\x1b[2D",
        b"\x1b[5G",
        b"\x1b[P",
        b"\x1b[2@",
        b"\x1b[2X",
        b"\x1b[J",
    ),
    *(b"\x1b[A", b"\x1b[H", b"\x1b[2J", b"\x1b[31m", b"\x1b7", b"\x1b8", b"\x1bM", b"\x1b(B", b"\x1b[?25l", b"\x1b["),
    *(
        b"\x1b[?1049h",
        b"\x1b[?1049l",
        b"\x1b[?1049;2004h",
        b"\x1b[?2026h",
        b"\x1bc",
        b"\x1b[!p",
        b"\x1b]0;t",
        b"\x1b\\",
    ),
    *(
        b"\x1b]133;D;0",
        b"\x1b]133;A\x07",
        b"\x1b]7770;end;3\x1b\\",
        b"\x1bPtmux;",
        b"\x1b\x1b]2;t\x07",
        b"\x1bP",
        b"\x1b_",
    ),
]
STREAMS = st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join)
CUTS = st.lists(st.floats(0, 1), max_size=10)


@contextmanager
def small_limits() -> Iterator[None]:
    """Patch the limits so low that short examples reach them."""
    sequence = {kind: replace(grammar, limit=24) for kind, grammar in tokenizer._GRAMMARS.items()}
    with MonkeyPatch.context() as patch:
        patch.setattr(line_assembler, "LINE_LIMIT", 24)
        patch.setattr(line_assembler, "RAW_LIMIT", 60)
        patch.setattr(line_assembler, "_OVERWRITE_LIMIT", 30)
        patch.setattr(tokenizer, "STRING_LIMIT", 24)
        patch.setattr(tokenizer, "CSI_LIMIT", 24)
        patch.setattr(tokenizer, "_GRAMMARS", sequence)
        patch.setattr(text_decoder, "_CHUNK_BYTES", 7)
        yield


def compute_offsets(data: bytes, cuts: list[float]) -> list[int]:
    return [int(cut * len(data)) for cut in cuts]


@given(STREAMS, CUTS)
def test_decoding_does_not_depend_on_chunk_boundaries(data: bytes, cuts: list[float]) -> None:
    assert decode(data, compute_offsets(data, cuts)) == decode(data, range(1, len(data))) == decode(data)


@given(STREAMS, CUTS)
def test_decoding_does_not_depend_on_restarts(data: bytes, cuts: list[float]) -> None:
    assert decode_with_restarts(data, compute_offsets(data, cuts)) == decode(data)


@given(st.binary(max_size=200), CUTS)
def test_random_bytes_decode_the_same_with_chunks_and_restarts(data: bytes, cuts: list[float]) -> None:
    assert (
        decode_with_restarts(data, compute_offsets(data, cuts))
        == decode(data, compute_offsets(data, cuts))
        == decode(data)
    )


@given(STREAMS, CUTS)
def test_decoding_at_small_limits_does_not_depend_on_chunks_or_restarts(data: bytes, cuts: list[float]) -> None:
    with small_limits():
        assert (
            decode_with_restarts(data, compute_offsets(data, cuts)) == decode(data, range(1, len(data))) == decode(data)
        )


@given(STREAMS)
def test_decoded_text_contains_no_control_characters(data: bytes) -> None:
    decoded = decode(data)
    shown = "".join(decoded.texts + [mark.text for mark in decoded.marks])
    assert [character for character in shown if ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0] == []


@build_settings(20)
@given(st.integers(1, 5), st.integers(-5, 5), CUTS)
def test_a_sequence_near_the_length_limit_decodes_the_same_in_chunks(kind: int, excess: int, cuts: list[float]) -> None:
    opener, end = [
        (b"\x1b]0;", b"\x07"),
        (b"\x1bP", b"\x1b\\"),
        (b"\x1bPtmux;", b"\x1b\\"),
        (b"\x1b]0;", b"\x18"),
        (b"\x9d", b"\x1b[A"),
    ][kind - 1]
    data = b"before" + opener + b"x" * (tokenizer.STRING_LIMIT - len(opener) + excess) + end + b"after\n"
    near = [len(data) - 20 + int(cut * 20) for cut in cuts]
    assert decode_with_restarts(data, near) == decode(data, near) == decode(data)
