"""Any terminal bytes: the decoder never raises, skips no byte, buffers little, and ignores chunk boundaries."""

import tracemalloc
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.terminal import line_assembler, tokenizer
from termvisor.terminal.text_decoder import TextDecoder
from termvisor.terminal.tokenizer import CSI_LIMIT, STRING_LIMIT, ReadMode, TerminalToken, Tokenizer
from tests.fuzz.example_count import build_settings
from tests.fuzz.terminal_bytes import INTRODUCERS, QUERIES, cuts, split_chunks, streams
from tests.property.test_chunk_splits import small_limits
from tests.unit.terminal.decoder_driver import build_delta, decode, decode_with_restarts

read_modes = st.sampled_from(["fresh", "lines", "exact", "marks"])


def read_tokens(chunks: list[bytes], mode: ReadMode) -> tuple[list[TerminalToken], Tokenizer]:
    reader, found = Tokenizer(), []
    for chunk in chunks:
        reader.feed(chunk)
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
        assert decode_with_restarts(data, offsets) == decode(data, offsets) == decode(data)


@pytest.mark.parametrize("sequence", [*QUERIES, *(opener + b"payload\x1b\\" for opener in INTRODUCERS)])
def test_a_sequence_split_at_any_byte_decodes_like_the_whole(sequence: bytes) -> None:
    data = b"before " + sequence + b" behind\r\n"
    whole = decode(data)
    assert all(decode(data, [at]) == whole for at in range(len(data)))
    assert all(decode(data[:at]).texts in ([], ["before"], whole.texts) for at in range(8, 8 + len(sequence) - 1))


UNTERMINATED = [
    *INTRODUCERS[::2],
    *(b"\x1b[", b"x", b"\x1b", b"\t", b"\a", b"\0", b"\xe6", b"\r", b"\x1b[A", b"a\b", b"\x9b;"),
]


PLAIN_UNITS = [b"x", b"\t", b"\a", b"\r", b"\0", b"\xff", b"\xe2\x94\x80"]
TOKEN_UNITS = [b"\x1b[m", b"\x1b]", b"a\b"]
"""Units with a token every few bytes, which are slow at full size; so few of them are tried."""


def measure_buffers(opener: bytes, chunk: bytes) -> tuple[int, int]:
    """Feed chunks; return the most bytes kept after the checkpoint and the longest unfinished sequence."""
    decoder, offset, kept, pending = TextDecoder(), 0, 0, 0
    for data in [opener, *[chunk] * 16]:
        decoder.feed(build_delta(data, offset))
        offset += len(data)
        kept, pending = max(kept, offset - decoder.build_checkpoint()[0]), max(pending, len(decoder.assembler.text))
    return kept, pending


@pytest.mark.parametrize(
    ("opener", "unit"),
    [*product(UNTERMINATED, PLAIN_UNITS), *product([b"x", b"\x1b[", b"\x1b]", b"\x1b_"], TOKEN_UNITS)],
)
def test_an_unterminated_sequence_keeps_buffers_small(opener: bytes, unit: bytes) -> None:
    chunk = unit * (10_000 // len(unit))
    kept, pending = measure_buffers(opener, chunk)
    assert kept <= 2 * STRING_LIMIT + len(chunk)
    assert pending <= CSI_LIMIT


@pytest.mark.parametrize("opener", UNTERMINATED)
def test_an_unterminated_sequence_at_small_limits_keeps_buffers_small(opener: bytes) -> None:
    with small_limits():
        for unit in PLAIN_UNITS + TOKEN_UNITS:
            kept, pending = measure_buffers(opener, unit * (60 // len(unit)))
            assert kept <= line_assembler.RAW_LIMIT + tokenizer.STRING_LIMIT
            assert pending <= tokenizer.CSI_LIMIT


def test_an_endless_string_in_tiny_chunks_uses_little_memory() -> None:
    decoder, offset = TextDecoder(), 0
    tracemalloc.start()
    try:
        for data in [b"\x1b]0;", *[b"tiny"] * 30_000]:
            decoder.feed(build_delta(data, offset))
            offset += len(data)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    assert [line.text for line in decoder.feed(build_delta(b"\x07back\r\n", offset)).lines] == ["back"]
