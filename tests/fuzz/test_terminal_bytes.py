"""Any terminal bytes: the decoder never raises, skips no byte, buffers little, and ignores chunk boundaries."""

import time
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.terminal.text_decoder import TextDecoder
from termvisor.terminal.tokenizer import ReadMode, TerminalToken, Tokenizer
from tests.fuzz.example_count import build_settings
from tests.fuzz.terminal_bytes import INTRODUCERS, QUERIES, cuts, split_chunks, streams
from tests.property.test_chunk_splits import small_limits
from tests.unit.terminal.decoder_driver import build_delta, decode, decode_with_restarts

read_modes = st.sampled_from(["plain", "any", "marks"])


def read_tokens(chunks: list[bytes], mode: ReadMode) -> tuple[list[TerminalToken], Tokenizer]:
    reader, found = Tokenizer(), []
    for chunk in chunks:
        reader.feed(chunk, 0)
        while (token := reader.next_token(mode)) is not None:
            found.append(token)
    return found, reader


@build_settings(200)
@given(streams | st.binary(max_size=120), cuts, read_modes)
def test_tokens_are_contiguous_and_cover_every_byte(data: bytes, cut_fractions: list[float], mode: ReadMode) -> None:
    found, reader = read_tokens(split_chunks(data, cut_fractions), mode)
    offsets = [0, *(token.end for token in found)]
    assert [token.start for token in found] == offsets[:-1]
    assert all(token.end > token.start for token in found)
    assert data[reader.position :] == reader.unfinished_bytes


@build_settings(150)
@given(streams, cuts)
def test_decoding_does_not_depend_on_chunks_or_restarts(data: bytes, cut_fractions: list[float]) -> None:
    offsets = [int(cut * len(data)) for cut in cut_fractions]
    assert (
        decode_with_restarts(data, offsets)
        == decode(data, offsets)
        == decode(data, range(1, len(data)))
        == decode(data)
    )


@build_settings(100)
@given(streams, cuts)
def test_decoding_at_small_limits_does_not_depend_on_chunks_or_restarts(
    data: bytes, cut_fractions: list[float]
) -> None:
    offsets = [int(cut * len(data)) for cut in cut_fractions]
    with small_limits():
        whole = decode(data, width=20, height=5)
        assert decode_with_restarts(data, offsets, width=20, height=5) == whole
        assert decode(data, offsets, width=20, height=5) == whole


@build_settings(100)
@given(st.lists(st.tuples(streams, st.integers(0, 90), st.integers(0, 30)), max_size=5), st.integers(0, 3))
def test_resizes_between_any_bytes_are_survived(parts: list[tuple[bytes, int, int]], rows: int) -> None:
    decoder, texts = TextDecoder(20, 5), []
    decoder.seed(["shown before"] * rows, 3, rows)
    for data, width, height in parts:
        texts += decoder.feed(build_delta(data, decoder.offset)).lines
        texts += decoder.resize(width, height).lines
        decoder = TextDecoder.load(decoder.snapshot())
        assert len(decoder.list_provisional_lines()) <= max(height, 1)
    texts += decoder.finish(0).lines
    assert decoder.settled_count == len(texts)


@pytest.mark.parametrize("sequence", [*QUERIES, *(opener + b"payload\x1b\\" for opener in INTRODUCERS)])
def test_a_sequence_split_at_any_byte_decodes_like_the_whole(sequence: bytes) -> None:
    data = b"before " + sequence + b" behind\r\n"
    whole = decode(data)
    assert all(decode(data, [at]) == whole for at in range(len(data)))


UNTERMINATED = [
    *INTRODUCERS[::2],
    *(b"\x1b[", b"x", b"\x1b", b"\t", b"\a", b"\0", b"\xe6", b"\r", b"\x1b[A", b"a\b", b"\x1b[4h", b"\x1b[?7l"),
]
UNITS = [
    *(b"x", b"\t", b"\a", b"\r", b"\0", b"\xff", b"\xe2\x94\x80", b"\x18", b"\n", b"\x1b\x1b", b"\x1bM", b"\x1b[L"),
    *(
        b"\x1b[m",
        b"\x1b]",
        b"a\b",
        b"e\xcc\x81",
        b"\xcc\x81",
        b"\xe2\x80\x8d",
        b"\x1b[9L",
        b"\x1b[2J",
        b"\x1b[31mx",
        b"\rx",
    ),
    *(b"x\r\x1b[K", b"\x1b]133;A\x07", b"x\x1b[?47h\x1b[?47l", b"\xe6\x97\xa5", b"\xc2\x9b", b"\x1b[3\n", b"x\x1b[2D"),
]


def measure_decoding(opener: bytes, chunk: bytes, count: int) -> tuple[float, int]:
    """Feed chunks; return the processor time in seconds and the size of the unpacked snapshot at the end."""
    decoder, began = TextDecoder(80, 24), time.process_time()
    for data in [opener, *[chunk] * count]:
        decoder.feed(build_delta(data, decoder.offset))
    return time.process_time() - began, len(zlib.decompress(decoder.snapshot()[3:]))


@pytest.mark.parametrize("unit", UNITS)
def test_any_output_is_decoded_at_a_bounded_cost(unit: bytes) -> None:
    chunk = unit * (1500 // len(unit))
    measured = [measure_decoding(opener, chunk, 3) for opener in UNTERMINATED]
    # A quarter of the slowest rate that was measured.
    assert max(seconds for seconds, _ in measured) < 3 * len(chunk) / 1e5
    # A screen of cells with combined characters, the head of a line and an unfinished string.
    assert max(size for _, size in measured) < 80 * 24 * 12 + 4 * 4096 + 4 * len(chunk)


@pytest.mark.parametrize("unit", [b"x", b"\0", b"\x1b]", b"e\xcc\x81", b"\xff", b"\x1b[L", b"x\x1b[D"])
def test_the_state_does_not_grow_with_the_output(unit: bytes) -> None:
    _, size = measure_decoding(b"\x1bP" * (unit == b"x"), unit * (100_000 // len(unit)), 2)
    assert size < 80_000


@pytest.mark.parametrize("opener", INTRODUCERS)
@pytest.mark.parametrize("unit", [b"x", b"\x18", b"\x1b[", b"\xff"])
def test_a_string_in_tiny_chunks_takes_linear_time(opener: bytes, unit: bytes) -> None:
    decoder, began = TextDecoder(80, 24), time.process_time()
    for data in [opener, *[unit] * 8000]:
        decoder.feed(build_delta(data, decoder.offset))
    assert time.process_time() - began < 2


def test_an_endless_string_in_tiny_chunks_uses_little_memory() -> None:
    decoder, offset = TextDecoder(80, 24), 0
    tracemalloc.start()
    try:
        for data in [b"\x1b]0;", *[b"tiny"] * 30_000]:
            decoder.feed(build_delta(data, offset))
            offset += len(data)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    decoder.feed(build_delta(b"\x07back\r\n", offset))
    assert [line.text for line in decoder.finish(0).lines] == ["back"]
