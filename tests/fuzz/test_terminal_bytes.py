"""Any bytes at all: the reader never fails, leaves no byte out, keeps little, and does not care where they were cut."""

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

readings = st.sampled_from(["fresh", "lines", "exact", "marks"])


def tokens_of(portions: list[bytes], reading: ReadMode) -> tuple[list[TerminalToken], Tokenizer]:
    reader, found = Tokenizer(), []
    for portion in portions:
        reader.feed(portion)
        while (token := reader.next_token(reading)) is not None:
            found.append(token)
    return found, reader


@build_settings(200)
@given(streams | st.binary(max_size=120), cuts, readings)
def test_tokens_lie_end_to_end_and_nothing_is_left_out(data: bytes, where: list[float], reading: ReadMode) -> None:
    found, reader = tokens_of(split_chunks(data, where), reading)
    places = [0, *(token.end for token in found)]
    assert [token.start for token in found] == places[:-1]
    assert all(token.end > token.start for token in found)
    assert data[reader.position :] == reader.unfinished_bytes


@build_settings(150)
@given(streams, cuts)
def test_cuts_and_deaths_change_nothing(data: bytes, where: list[float]) -> None:
    places = [int(cut * len(data)) for cut in where]
    assert (
        decode_with_restarts(data, places) == decode(data, places) == decode(data, range(1, len(data))) == decode(data)
    )


@build_settings(100)
@given(streams, cuts)
def test_cuts_and_deaths_change_nothing_at_the_limits(data: bytes, where: list[float]) -> None:
    places = [int(cut * len(data)) for cut in where]
    with small_limits():
        assert decode_with_restarts(data, places) == decode(data, places) == decode(data)


@pytest.mark.parametrize("sequence", [*QUERIES, *(opener + b"payload\x1b\\" for opener in INTRODUCERS)])
def test_half_a_sequence_at_every_place_is_the_whole_one(sequence: bytes) -> None:
    data = b"before " + sequence + b" behind\r\n"
    whole = decode(data)
    assert all(decode(data, [at]) == whole for at in range(len(data)))
    assert all(decode(data[:at]).texts in ([], ["before"], whole.texts) for at in range(8, 8 + len(sequence) - 1))


ENDLESS = [
    *INTRODUCERS[::2],
    *(b"\x1b[", b"x", b"\x1b", b"\t", b"\a", b"\0", b"\xe6", b"\r", b"\x1b[A", b"a\b", b"\x9b;"),
]


EVEN = [b"x", b"\t", b"\a", b"\r", b"\0", b"\xff", b"\xe2\x94\x80"]
BUSY = [b"\x1b[m", b"\x1b]", b"a\b"]
"""A token every few bytes: at full size few of these will do."""


def most_kept(opener: bytes, portion: bytes) -> tuple[int, int]:
    """While portion follows on portion: of the stream behind the checkpoint, and of the sequence that has not ended."""
    stage, offset, kept, pending = TextDecoder(), 0, 0, 0
    for data in [opener, *[portion] * 16]:
        stage.feed(build_delta(data, offset))
        offset += len(data)
        kept, pending = max(kept, offset - stage.build_checkpoint()[0]), max(pending, len(stage.assembler.text))
    return kept, pending


@pytest.mark.parametrize(
    ("opener", "unit"), [*product(ENDLESS, EVEN), *product([b"x", b"\x1b[", b"\x1b]", b"\x1b_"], BUSY)]
)
def test_whatever_never_ends_keeps_little(opener: bytes, unit: bytes) -> None:
    portion = unit * (10_000 // len(unit))
    kept, pending = most_kept(opener, portion)
    assert kept <= 2 * STRING_LIMIT + len(portion)
    assert pending <= CSI_LIMIT


@pytest.mark.parametrize("opener", ENDLESS)
def test_whatever_never_ends_keeps_little_at_any_limits(opener: bytes) -> None:
    with small_limits():
        for unit in EVEN + BUSY:
            kept, pending = most_kept(opener, unit * (60 // len(unit)))
            assert kept <= line_assembler.RAW_LIMIT + tokenizer.STRING_LIMIT
            assert pending <= tokenizer.CSI_LIMIT


def test_an_endless_string_in_countless_tiny_portions_costs_no_memory_and_little_time() -> None:
    stage, offset = TextDecoder(), 0
    tracemalloc.start()
    try:
        for data in [b"\x1b]0;", *[b"tiny"] * 30_000]:
            stage.feed(build_delta(data, offset))
            offset += len(data)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    assert [line.text for line in stage.feed(build_delta(b"\x07back\r\n", offset)).lines] == ["back"]
