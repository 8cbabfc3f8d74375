"""Sealing: bytes and times read as before, and masking moves no byte and leaves no partial secret."""

import os
import tempfile

from hypothesis import given
from hypothesis import strategies as st

from termvisor.capture.sealing import SealOptions, seal_segment
from termvisor.recorder import compressed_segment
from termvisor.recorder.segment import list_segment_starts
from termvisor.recorder.segment_log import SegmentReader
from termvisor.redaction import raw_bytes, redact
from termvisor.redaction.raw_bytes import EDGE_BYTES, RawByteMasker, mask_bytes
from tests.fuzz.example_count import build_settings
from tests.property.test_redaction import provider_secrets
from tests.property.test_segments import portions, segment_sizes, write_segments

redact("")
JUNK = (b"\x1b[m\x1b[K", b"\r\n", b" \r", b" \xe2\x94\x82\r\n\xe2\x94\x82 ", b"\x1b[7;1H", b"\x1b[1;32m")


def read_everything(folder: str, step: int) -> list[object]:
    """Return everything that a reader can read from a stream."""
    reader = SegmentReader(folder)
    end = reader.read_size()
    found = [list(reader.read_pieces(offset, step)) for offset in range(0, end, step)]
    times = [reader.find_read_time(offset) for offset in range(end + 1)]
    ended = reader.read_end()
    reader.close()
    return [end, found, times, ended]


@build_settings(40)
@given(portions, segment_sizes, st.integers(1, 100), st.lists(st.booleans(), min_size=40, max_size=40))
def test_a_sealed_stream_reads_like_an_unsealed_one(appends, segment_bytes, step, is_sealed_list):
    with tempfile.TemporaryDirectory() as folder:
        write_segments(folder, segment_bytes, appends)
        os.truncate(f"{folder}/{sorted(os.listdir(folder))[0]}", 16)  # some times are not known
        before = read_everything(folder, step)
        for start, is_sealed in zip(list_segment_starts(folder), is_sealed_list, strict=False):
            if is_sealed:
                seal_segment(folder, start, SealOptions(masks=False))
        assert read_everything(folder, step) == before


@build_settings(50)
@given(st.binary(max_size=3000), st.integers(1, 500), st.integers(1, 700))
def test_any_slice_can_be_read_for_any_frame_size(data, frame, offset):
    with tempfile.TemporaryDirectory() as folder:
        compressed_segment.FRAME_BYTES, default = frame, compressed_segment.FRAME_BYTES
        try:
            write_segments(folder, 10_000, [(data, 5)] if data else [])
            seal_segment(folder, 0, SealOptions(masks=False)) if data else None
        finally:
            compressed_segment.FRAME_BYTES = default
        reader = SegmentReader(folder)
        assert b"".join(piece for _, piece, _ in reader.read_pieces(offset, 1 << 20)) == data[offset:]
        reader.close()


noise = st.lists(
    st.sampled_from([b"\x1b[H", b"\r", b"\n", b"sk-", b"ghp_", b" ", b"\xe2\x94\x82", b"a1B", b"\x1b]", b"\x07"])
)


@given(st.binary(max_size=400), noise)
def test_masking_only_replaces_bytes_with_zeros(data, tokens):
    whole = data + b"".join(tokens)
    masked = mask_bytes(whole)
    assert all(new == old or new == ord("0") for new, old in zip(masked, whole, strict=True))


@given(st.lists(noise.map(b"".join)), st.integers(1, 50))
def test_masking_does_not_depend_on_chunk_boundaries(rows, step):
    whole = b"".join(row[:90] + b"\r\n" for row in rows)
    raw_bytes.CHUNK_BYTES, default = 100, raw_bytes.CHUNK_BYTES
    try:
        masking = RawByteMasker()
        fed = b"".join(masking.feed(whole[at : at + step]) for at in range(0, len(whole), step))
        fed += masking.finish()
    finally:
        raw_bytes.CHUNK_BYTES = default
    assert fed == mask_bytes(whole)


@build_settings(50)
@given(provider_secrets(), st.sampled_from(JUNK), st.integers(20, 60), st.integers(0, 200))
def test_a_wrapped_secret_is_masked_on_both_sides_of_a_segment_boundary(secret, junk, cut, boundary):
    """The two segments are sealed one after the other; neither contains a part of the secret."""
    text, hidden = (part.encode() for part in secret)
    output = b"the key is here: " + text[:cut] + junk + text[cut:] + b"\r\n"
    filler = b"some words " * 9 + b"\r\n"
    front = filler * (EDGE_BYTES // len(filler) + 1)
    whole = front + output + front
    boundary = len(front) + min(boundary, len(output))
    with tempfile.TemporaryDirectory() as folder:
        write_segments(folder, 1, [(whole[:boundary], 1), (whole[boundary:], 2)])
        for start in list_segment_starts(folder):
            seal_segment(folder, start, SealOptions())
        reader = SegmentReader(folder)
        masked = b"".join(data for _, data, _ in reader.read_pieces(0, 1 << 20))
        reader.close()
    assert masked == mask_bytes(whole)
    visible = masked.replace(junk, b"")
    assert not any(hidden[at : at + 8] in visible for at in range(len(hidden) - 7))
