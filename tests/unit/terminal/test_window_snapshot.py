"""A snapshot holds the whole state of a decoder, and foreign bytes are refused."""

import sys
import zlib

import pytest

from termvisor.terminal.text_decoder import TextDecoder
from tests.unit.terminal.decoder_driver import build_decoder, build_delta, decode
from tests.unit.terminal.terminal_seeds import HEIGHT, SEEDS

STATE = (
    "one 日本 e\u0301\r\n\x1b]133;A\x07$ \x1b]133;B\x07ls\x1b7\x1b[2;5r\x1b[?6h\x1b[4h\x1b[?7l\x1bH\x1b[2;3Hx" * 3
).encode()


@pytest.mark.parametrize(
    "rest", [b"\r\n", b"\x1b]0;ti", b"\xe6\x97", b"\x1b[3", b"\x1b[?1049hx", b"\x1b[?47hxy", b"x " * 300]
)
def test_a_loaded_decoder_gives_the_same_output(rest: bytes) -> None:
    stage = build_decoder(STATE + rest, 40, 6)
    again = TextDecoder.load(stage.snapshot())
    assert again.snapshot() == stage.snapshot()
    after = build_delta("本le\x07m\x1b[?1049l\x1b8\x1b[?47lend\r\n\tx".encode(), stage.offset)
    assert again.feed(after) == stage.feed(after)
    assert again.list_provisional_lines() == stage.list_provisional_lines()
    assert again.finish(5) == stage.finish(5)


@pytest.mark.parametrize("seed", SEEDS, ids=[repr(seed.data)[2:-1] for seed in SEEDS])
def test_a_snapshot_at_any_byte_changes_nothing(seed) -> None:
    data = seed.encode()
    whole = decode(data, width=20, height=HEIGHT)
    stage = TextDecoder(20, HEIGHT)
    texts = []
    for index in range(len(data)):
        texts += [line.text for line in stage.feed(build_delta(data[index : index + 1], index)).lines]
        stage = TextDecoder.load(stage.snapshot())
    assert texts + [line.text for line in stage.finish(0).lines] == whole.texts


def test_resizing_continues_from_a_snapshot() -> None:
    stage = build_decoder(b"".join(b"line %d\r\n" % number for number in range(20)), 10, 4)
    again = TextDecoder.load(stage.snapshot())
    assert again.resize(5, 9) == stage.resize(5, 9)
    assert again.snapshot() == stage.snapshot()


@pytest.mark.parametrize(
    "data", [b"", b"TW1", b"TW0" + zlib.compress(b""), b"TW1" + zlib.compress(b"\x90"), b"other bytes"]
)
def test_foreign_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="snapshot"):
        TextDecoder.load(data)


def test_damaged_bytes_are_refused() -> None:
    good = build_decoder(STATE, 40, 6).snapshot()
    damaged = [good[:size] for size in range(len(good))]
    damaged += [good[:at] + bytes([good[at] ^ 0x55]) + good[at + 1 :] for at in range(len(good))]
    for data in damaged:
        with pytest.raises(ValueError, match="snapshot"):
            TextDecoder.load(data)


def test_a_full_screen_takes_few_bytes() -> None:
    stage = build_decoder(b"".join(b"%06d some text of a log, %d ms\r\n" % (n * 7919, n) for n in range(200)), 120, 50)
    assert len(zlib.decompress(stage.snapshot()[3:])) < 4300
    assert len(stage.snapshot()) < 1500


def test_a_decoder_takes_little_memory() -> None:
    stage = build_decoder(b"".join(b"%06d some text of a log, %d ms\r\n" % (n * 7919, n) for n in range(200)), 120, 50)
    rows = stage._window.rows
    size = sum(sys.getsizeof(row) + sum(map(sys.getsizeof, (row.cells, row.start, row.end))) for row in rows)
    assert size < 15_000
