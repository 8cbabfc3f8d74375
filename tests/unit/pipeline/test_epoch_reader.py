"""Decode one epoch to rows, and record holes as gaps."""

import os

import pytest
from msgspec.structs import replace

from termvisor.backends.pane_source import PaneCapture
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import Epoch, InitialLine
from termvisor.pipeline import EpochReader, get_activity
from termvisor.pipeline.epoch_reader import encode_first_carry
from termvisor.pipeline.epoch_text import seed_window
from termvisor.pipeline.window_files import WindowFiles
from termvisor.recorder.segment_log import SegmentWriter

EPOCH = Epoch(id=EpochId(3), pane=PaneId(1), source="pipe", opened_at=10)


@pytest.fixture
def folder(tmp_path) -> str:
    return str(tmp_path / "3")


def write_log(folder: str, *pieces: bytes, segment_bytes: int = 1 << 20) -> int:
    writer = SegmentWriter(folder, segment_bytes)
    for at, piece in enumerate(pieces, 100):
        writer.append(piece, at)
    writer.close()
    return writer.offset


def open_reader(epoch: Epoch, folder: str) -> EpochReader:
    return EpochReader(epoch, folder, None, WindowFiles(f"{folder}-state"))


def read_rows(reader: EpochReader) -> list[str]:
    """Return all lines of the epoch that the reader has, stored or not."""
    return [line.text for line in reader.text.list_unstored_lines(1)]


def test_a_reader_resumes_from_stored_progress(folder):
    write_log(folder, b"one\r\ntw", b"o\r\nthree\r\n")
    text = open_reader(EPOCH, folder)
    assert text.read_step(7) == 7
    progress = text.take_progress()
    assert progress is not None and progress.committed == 0
    after = open_reader(replace(EPOCH, committed=progress.committed, carry=progress.carry), folder)
    after.read_step(1000)
    assert read_rows(after) == ["one", "two", "three"]
    assert text.take_progress() is None


def test_the_missing_end_of_a_closed_log_is_a_gap(folder):
    size = write_log(folder, b"kept\r\n", b"cut away\r\n")
    (raw,) = [name for name in os.listdir(folder) if name.endswith(".raw")]
    os.truncate(f"{folder}/{raw}", 6)
    text = open_reader(replace(EPOCH, size=size), folder)
    text.read_step(1000)
    assert not text.is_fully_read
    text.finish()
    assert read_rows(text) == ["kept"]
    (gap,) = text.take_gaps()
    assert (gap.cause, gap.start_at, gap.detail) == ("log_truncated", 100, "bytes 6 to 16 are no longer in the raw log")


def test_a_complete_log_has_no_gap(folder):
    size = write_log(folder, b"kept\r\n")
    text = open_reader(replace(EPOCH, size=size), folder)
    text.read_step(1000)
    text.finish()
    assert text.take_gaps() == []


def test_an_epoch_that_starts_in_the_alternate_screen_is_known(folder):
    capture = PaneCapture(
        rows=("painted",), width=80, height=24, cursor_x=0, cursor_y=0, has_cursor=True, alternate=True
    )
    first = seed_window(EPOCH, capture, InitialLine(), WindowFiles(f"{folder}-state"))
    text = open_reader(replace(EPOCH, carry=encode_first_carry(EPOCH, first)), folder)
    assert (get_activity(text).kind, get_activity(text).since) == ("alt_screen", 10)
    assert get_activity(None).kind == "gap"


BODY = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zC3fG5hJ7kL9nP1qR2"
KEY = f"sk-ant-{BODY}"
MASK = "[redacted:anthropic_key]"


@pytest.mark.parametrize(
    ("printed", "stored"),
    [
        (f"{KEY}\rworking on it\r\n", [f"working on it{MASK}"]),
        (f"{KEY}\x1b[9D and so on\r\n", [f"sk-ant-{MASK} and so on"]),
        (f"{KEY}\r\x1b[2@ok\r\n", [f"oksk-ant-{MASK}"]),
        (f"x {KEY}\x1b[2G\x1b[P\r\n", [f"xsk-ant-{MASK}"]),
        (f"{KEY[:30]}\r\n{KEY[30:]}\rfine, \r\n", [f"sk-ant-{MASK}", f"fine, {MASK}"]),
        (f"{KEY}\r\n\x1b[Aabove it\x1b[B\r{BODY[20:]}\r\n", [f"above it{MASK}", MASK]),
        (f"{BODY[20:]}\r\n{KEY}\rworking on it\r\n", [MASK, f"working on it{MASK}"]),
    ],
)
def test_the_rest_of_an_overwritten_key_is_not_stored(folder, printed, stored):
    size = write_log(folder, printed.encode())
    for step in (1, 7, size):
        text = open_reader(EPOCH, folder)
        while text.read_step(step):
            pass
        assert read_rows(text) == stored


def test_the_unfinished_line_shows_nothing_of_an_overwritten_key(folder):
    write_log(folder, f"{KEY}\rworking on it".encode())
    text = open_reader(EPOCH, folder)
    text.read_step(1000)
    assert text.pending_line == f"working on it{MASK}"


def test_a_later_reader_learns_the_keys_again_from_the_log(folder):
    first = f"{KEY}\r\n".encode()
    write_log(folder, first, f"\x1b[A\x1b[B{BODY[20:]} is left\r\n".encode())
    text = open_reader(EPOCH, folder)
    text.read_step(len(first))
    progress = text.take_progress()
    assert progress is not None and BODY[:9].encode() not in progress.carry
    after = open_reader(replace(EPOCH, committed=progress.committed, carry=progress.carry), folder)
    after.read_step(1000)
    assert read_rows(after) == [f"sk-ant-{MASK}", f"{MASK} is left"]


def test_a_painted_key_is_known_until_many_lines_follow(folder):
    size = write_log(folder, f"\x1b[?1049h\x1b[3;1H{KEY}\x1b[3;1Hworking\x1b[?1049l".encode(), b"a line\r\n" * 2000)
    text = open_reader(EPOCH, folder)
    assert text.refresh_secrets().mask_known_pieces(BODY[20:]) == MASK
    while text.read_step(1000):
        pass
    assert text.read_offset == size
    assert text.refresh_secrets().mask_known_pieces(BODY[20:]) == BODY[20:]


def test_a_closed_epoch_is_not_read_again(folder):
    size = write_log(folder, f"\x1b[?1049h{KEY}".encode())
    text = open_reader(replace(EPOCH, size=size), folder)
    text.read_step(1000)
    text.finish()
    assert text.refresh_secrets().mask_known_pieces(BODY) == BODY
