"""Decoding depends only on the bytes, not on chunk boundaries or restarts."""

from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis import given
from hypothesis import strategies as st
from pytest import MonkeyPatch

from termvisor.terminal import output_runs, row_window, screen_row, text_decoder, tokenizer
from termvisor.terminal.text_decoder import TextDecoder
from tests.fuzz.example_count import build_settings
from tests.unit.terminal.decoder_driver import build_delta, decode, decode_with_restarts

PIECES = [
    *(bytes([byte]) for byte in range(256)),
    *(b"word ", b"  ", b"\r\n", b"a line\r\n", b"another\n", b"x" * 30, b"\r", b"\b\b", b"\t"),
    *(text.encode() for text in ("─", "😀", "日本", "e\u0301", "\u200d", "\x9b", "👩\u200d🔬", "テキスト\r\n" * 3)),
    *(b"\x1b[K", b"\x1b[1K", b"\x1b[2K", b"\x1b[3C", b"\x1b[2D", b"\x1b[5G", b"\x1b[P", b"\x1b[2@", b"\x1b[2X"),
    *(
        b"\x1b[J",
        b"\x1b[1J",
        b"\x1b[2J",
        b"\x1b[3J",
        b"\x1b[A",
        b"\x1b[2B",
        b"\x1b[E",
        b"\x1b[F",
        b"\x1b[H",
        b"\x1b[2;3H",
    ),
    *(b"\x1b[L", b"\x1b[2M", b"\x1b[S", b"\x1b[T", b"\x1b[2;3r", b"\x1b[r", b"\x1bM", b"\x1bD", b"\x1bE", b"\x1b#8"),
    *(
        b"\x1b[4h",
        b"\x1b[4l",
        b"\x1b[?7l",
        b"\x1b[?7h",
        b"\x1b[?6h",
        b"\x1b[?6l",
        b"\x1bH",
        b"\x1b[g",
        b"\x1b[Z",
        b"\x1b[3b",
    ),
    *(
        b"\x1b[31m",
        b"\x1b7",
        b"\x1b8",
        b"\x1b(B",
        b"\x1b[?25l",
        b"\x1b[",
        b"\x1b[3\n1m",
        b"\r\x1b[K",
        b"one\r\x1b[2Ktwo",
    ),
    *(b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?47h", b"\x1b[?47l", b"\x1b[?1049;2004h", b"\x1b[?2026h", b"\x1bc"),
    *(b"\x1b[!p", b"\x1b]0;t", b"\x1b\\", b"\x1b]133;D;0", b"\x1b]133;A\x07", b"\x1b]133;B\x07", b"\x1b]133;C\x07"),
    *(b"\x1b]7770;end;3\x1b\\", b"\x1bPtmux;", b"\x1b\x1b]2;t\x07", b"\x1bP", b"\x1b_"),
]
STREAMS = st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join)
CUTS = st.lists(st.floats(0, 1), max_size=10)
SIZES = st.sampled_from([(80, 24), (20, 6), (10, 3), (5, 2), (1, 1)])


@contextmanager
def small_limits() -> Iterator[None]:
    """Patch the limits so low that short examples reach them."""
    with MonkeyPatch.context() as patch:
        patch.setattr(screen_row, "LINE_LIMIT", 24)
        patch.setattr(screen_row, "_CUT_SEARCH", 8)
        patch.setattr(row_window, "LINE_LIMIT", 24)
        patch.setattr(output_runs, "LINE_LIMIT", 24)
        patch.setattr(tokenizer, "STRING_LIMIT", 24)
        patch.setattr(tokenizer, "CSI_LIMIT", 24)
        patch.setattr(text_decoder, "_CHUNK_BYTES", 7)
        yield


def compute_offsets(data: bytes, cuts: list[float]) -> list[int]:
    return [int(cut * len(data)) for cut in cuts]


@given(STREAMS, CUTS, SIZES)
def test_decoding_does_not_depend_on_chunk_boundaries(data: bytes, cuts: list[float], size: tuple[int, int]) -> None:
    width, height = size
    whole = decode(data, width=width, height=height)
    assert decode(data, compute_offsets(data, cuts), width=width, height=height) == whole
    assert decode(data, range(1, len(data)), width=width, height=height) == whole


@given(STREAMS, CUTS, SIZES)
def test_decoding_does_not_depend_on_restarts(data: bytes, cuts: list[float], size: tuple[int, int]) -> None:
    width, height = size
    offsets = compute_offsets(data, cuts)
    assert decode_with_restarts(data, offsets, width=width, height=height) == decode(data, width=width, height=height)


@given(st.binary(max_size=200), CUTS)
def test_random_bytes_decode_the_same_with_chunks_and_restarts(data: bytes, cuts: list[float]) -> None:
    offsets = compute_offsets(data, cuts)
    assert decode_with_restarts(data, offsets) == decode(data, offsets) == decode(data)


@given(STREAMS, CUTS, SIZES)
def test_decoding_at_small_limits_does_not_depend_on_chunks_or_restarts(
    data: bytes, cuts: list[float], size: tuple[int, int]
) -> None:
    width, height = size
    with small_limits():
        whole = decode(data, width=width, height=height)
        assert decode_with_restarts(data, compute_offsets(data, cuts), width=width, height=height) == whole
        assert decode(data, range(1, len(data)), width=width, height=height) == whole


@given(STREAMS, SIZES)
def test_what_is_provisional_settles_at_the_end(data: bytes, size: tuple[int, int]) -> None:
    stage = TextDecoder(*size)
    settled = [line.text for line in stage.feed(build_delta(data + b"\x18")).lines]
    shown = [line.text for line in stage.list_provisional_lines()]
    assert stage.settled_count == len(settled)
    rest = [line.text for line in stage.finish(0).lines]
    assert shown[: len(rest)] == rest
    assert set(shown[len(rest) :]) <= {""}


@given(STREAMS)
def test_decoded_text_contains_no_control_characters(data: bytes) -> None:
    decoded = decode(data)
    shown = "".join(decoded.texts + [mark.text for mark in decoded.marks])
    assert [character for character in shown if ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0] == []
    shown.encode()


@build_settings(20)
@given(st.integers(1, 5), st.integers(-5, 5), CUTS)
def test_a_sequence_near_the_length_limit_decodes_the_same_in_chunks(kind: int, excess: int, cuts: list[float]) -> None:
    opener, end = [
        (b"\x1b]0;", b"\x07"),
        (b"\x1bP", b"\x1b\\"),
        (b"\x1bPtmux;", b"\x1b\\"),
        (b"\x1b]0;", b"\x18"),
        (b"\x1b_", b"\x1b[A"),
    ][kind - 1]
    data = b"before" + opener + b"x" * (tokenizer.STRING_LIMIT - len(opener) + excess) + end + b"after\n"
    near = [len(data) - 20 + int(cut * 20) for cut in cuts]
    assert decode_with_restarts(data, near) == decode(data, near) == decode(data)
