"""Decode one epoch to rows, and record holes as gaps."""

import os
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from termvisor.backends.pane_source import PaneCapture
from termvisor.capture.screen_sampler import PaintActivity
from termvisor.clock import NS
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import Epoch, Gap, InitialLine, Line
from termvisor.model.terminal.shell_state import RecordedShellState
from termvisor.pipeline import EpochReader, get_activity
from termvisor.pipeline.epoch_reader import EpochCarry, SnapshotSchedule, encode_first_carry
from termvisor.pipeline.epoch_text import TextCarry, seed_window
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


@pytest.mark.parametrize(
    ("output", "is_stored"),
    [
        (b"\r\x1b[2K 50 %", False),
        (b"\r\x1b[2K 50 %\r\n", True),
        (b"\x1b[A\rONE\x1b[B", True),
        (b"\x1b]133;A\x1b\\", True),
        (b"x" * (1 << 16), True),
    ],
)
def test_a_rewritten_last_line_alone_is_not_stored(folder, output, is_stored):
    size = write_log(folder, b"one\r\n 10 %", output)
    reader = open_reader(EPOCH, folder)
    reader.read_step(9)
    assert reader.take_progress() is not None
    reader.read_step(size)
    assert (reader.take_progress() is not None) == is_stored


def test_a_rewritten_last_line_is_stored_once_it_is_complete(folder):
    write_log(folder, b"one\r\n 10 %", b"\r 50 %", b"\r done\r\n")
    reader = open_reader(EPOCH, folder)
    reader.read_step(9)
    first = reader.take_progress()
    reader.read_step(6)
    assert reader.take_progress() is None
    reader.read_step(100)
    last = reader.take_progress()
    assert first is not None and last is not None and reader.has_new_lines
    after = open_reader(replace(EPOCH, committed=last.committed, carry=last.carry), folder)
    assert read_rows(after) == ["one", " done"]
    assert after.take_progress() is None


def test_the_missing_end_of_a_closed_log_is_a_gap(folder):
    size = write_log(folder, b"kept\r\n", b"cut away\r\n")
    (raw,) = [name for name in os.listdir(folder) if name.endswith(".raw")]
    os.truncate(f"{folder}/{raw}", 6)
    text = open_reader(replace(EPOCH, size=size), folder)
    text.read_step(1000)
    assert not text.is_fully_read
    text.finish()
    assert read_rows(text) == ["kept"]
    detail = "bytes 6 to 16 are no longer in the raw log"
    bounds = {"start_at": 100, "end_at": 100, "after": EPOCH.id, "before": EPOCH.id}
    assert text.take_gaps() == [Gap(pane=EPOCH.pane, cause="log_truncated", detail=detail, **bounds)]
    assert text.take_gaps() == []


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


def test_the_first_command_of_a_shell_is_in_the_folder_that_it_recorded(folder):
    proof = b";aid=7;nonce=n\x07"
    marks = [b"\x1b]133;" + kind + proof for kind in (b"A", b"B", b"C", b"D;0")]
    size = write_log(folder, b"%b$ %bmake\r\n%bdone\r\n%b" % tuple(marks))
    shell = RecordedShellState(kind="prompt", shell="7", at=5, cwd="/srv/app")
    carry = encode_first_carry(EPOCH, TextCarry(width=80, height=24), shell)
    text = EpochReader(replace(EPOCH, carry=carry), folder, "n", WindowFiles(f"{folder}-state"))
    text.read_step(size)
    progress = text.take_progress()
    assert progress is not None
    assert [(one.cwd, one.exit_code, one.is_proven) for one in progress.commands] == [("/srv/app", 0, True)]


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


MARKS = {
    "agent": b"\x1b]7501;codex\x1b\\",
    "title": b"\x1b]0;a title\x07",
    "notification": b"\x1b]9;done\x07",
    "progress": b"\x1b]9;4;1;50\x07",
    "bell": b"\x07",
    "sync_on": b"\x1b[?2026h",
    "sync_off": b"\x1b[?2026l",
    "paste_on": b"\x1b[?2004h",
    "paste_off": b"\x1b[?2004l",
    "cwd": b"\x1b]7;file://h/tmp\x07",
}


def test_marks_of_a_status_are_reported_and_lasting_ones_are_stored(folder):
    write_log(folder, b"x".join(MARKS.values()))
    text = open_reader(EPOCH, folder)
    text.read_step(1000)
    assert [mark.kind for _, mark in text.take_status_marks()] == ["agent", "title", "notification", "progress", "bell"]
    assert text.take_status_marks() == []
    progress = text.take_progress()
    assert progress is not None
    assert [(at, mark.kind) for at, mark in progress.marks] == [(100, "agent"), (100, "notification"), (100, "cwd")]


def test_only_the_latest_status_marks_are_reported(folder):
    write_log(folder, b"".join(b"\x1b]0;%d\x07" % number for number in range(70)))
    text = open_reader(EPOCH, folder)
    text.read_step(10_000)
    assert [mark.text for _, mark in text.take_status_marks()] == [str(number) for number in range(6, 70)]


def test_the_nonce_of_a_mark_proves_it_and_is_not_stored(folder):
    write_log(folder, b"\x1b]133;A;nonce=0a1b;k=i\x1b\\$ ")
    text = EpochReader(EPOCH, folder, "0a1b", WindowFiles(f"{folder}-state"))
    text.read_step(1000)
    progress = text.take_progress()
    assert progress is not None
    assert get_activity(text).is_proven
    assert [mark.params for _, mark in progress.marks] == [{"k": "i"}]


@pytest.mark.parametrize("committed", [0, 2])
def test_the_state_of_an_older_version_is_continued(folder, committed):
    old = {"alternate": True, "reported_to": 2}
    carry = EpochCarry(decoder_carry=msgspec.json.encode(old), width=40, redactor_state=b"")
    write_log(folder, b"ls\x1b[?1049l\r\nx\r\n")
    text = open_reader(replace(EPOCH, committed=committed, carry=msgspec.msgpack.encode(carry)), folder)
    assert (text.text.size, text.text.decoder.is_alternate, text.text.decoder.offset) == ((40, 24), True, 2)
    text.read_step(1000)
    assert not text.text.decoder.is_alternate
    assert read_rows(text)[-1] == "x"


@pytest.mark.parametrize(
    ("committed", "is_stored", "rows"), [(0, False, ["$ ls", "x"]), (0, True, ["ls", "x"]), (1, False, ["s", "x"])]
)
def test_the_line_at_the_cursor_is_continued_after_an_older_version(folder, committed, is_stored, rows):
    begun = InitialLine("$ ", 2, is_stored=is_stored)
    carry = msgspec.msgpack.encode(EpochCarry(width=40, begun=begun))
    write_log(folder, b"ls\r\nx\r\n")
    text = open_reader(replace(EPOCH, committed=committed, carry=carry), folder)
    text.read_step(100)
    assert read_rows(text) == rows


@pytest.mark.parametrize("damage", [b"", b"cut short"])
def test_a_window_whose_snapshot_is_lost_is_rebuilt_from_the_log(folder, damage):
    write_log(folder, b"one\r\ntwo\r\n", b"three\r\n")
    text = open_reader(EPOCH, folder)
    text.read_step(10)
    assert text.request_snapshot()
    progress = text.take_progress()
    assert progress is not None and progress.committed == 10
    assert not text.request_snapshot()
    for snapshot in Path(f"{folder}-state/windows").iterdir():
        snapshot.write_bytes(damage)
    after = open_reader(replace(EPOCH, committed=10, carry=progress.carry), folder)
    assert (after.text.lost_bytes, after.read_offset) == (0, 10)
    after.read_step(1000)
    assert read_rows(after) == ["one", "two", "three"]


def test_a_log_that_lost_bytes_that_were_read_says_how_many(folder):
    write_log(folder, b"one\r\ntwo\r\n")
    text = open_reader(EPOCH, folder)
    text.read_step(10)
    text.request_snapshot()
    progress = text.take_progress()
    assert progress is not None
    (raw,) = Path(folder).glob("*.raw")
    os.truncate(raw, 7)
    assert open_reader(replace(EPOCH, committed=10, carry=progress.carry), folder).text.lost_bytes == 3


def test_a_turn_that_is_over_ends_after_a_chunk(folder):
    size = write_log(folder, b"x" * 20_000)
    text = open_reader(EPOCH, folder)
    assert (text.read_step(size, lambda: True), text.read_offset) == (8192, 8192)
    assert (text.read_step(size), text.read_offset) == (size - 8192, size)


def test_a_known_size_limits_a_step_and_none_does_not(folder):
    write_log(folder, b"one\r\n", b"two\r\n")
    text = open_reader(EPOCH, folder)
    text.known_size = 5
    assert text.read_step(100) == 5
    assert text.read_step(100) == 5


class StoppedClock:
    """A clock that a test sets."""

    def __init__(self):
        self.seconds = 100.0

    def monotonic(self) -> float:
        return self.seconds

    def now(self) -> int:
        return int(self.seconds * NS)


def test_a_snapshot_is_requested_for_readers_that_fell_silent(folder):
    write_log(folder, b"one\r\n")
    silent, ended = (open_reader(replace(EPOCH, id=EpochId(number)), folder) for number in (3, 4))
    for text in (silent, ended):
        text.read_step(100)
        text.take_progress()
    clock = StoppedClock()
    schedule = SnapshotSchedule(clock)
    schedule.add_readers([])
    assert (schedule.due_at, schedule.take_quiet_readers()) == (None, [])
    schedule.add_readers([silent, ended])
    assert schedule.due_at == 105.0
    ended.final_size = 5
    clock.seconds = 104.9
    schedule.add_readers([silent])
    assert (schedule.due_at, schedule.take_quiet_readers()) == (105.0, [])
    clock.seconds = 105.0
    assert (schedule.take_quiet_readers(), schedule.due_at) == ([silent], None)
    progress = silent.take_progress()
    assert progress is not None and progress.committed == 5


def test_a_reader_that_printed_meanwhile_is_checked_again_later(folder):
    write_log(folder, b"one\r\n")
    text = open_reader(EPOCH, folder)
    text.read_step(100)
    text.take_progress()
    clock = StoppedClock()
    schedule = SnapshotSchedule(clock)
    schedule.add_readers([text])
    clock.seconds, text.last_byte_at = 105.0, int(100.1 * NS)
    assert (schedule.take_quiet_readers(), schedule.due_at) == ([], 110.0)
    clock.seconds = 110.0
    assert schedule.take_quiet_readers() == [text]


@pytest.mark.parametrize(
    ("at", "size", "committed"),
    [(10, 9, 0), (10, 10, 10), (15_000_000_009, 9, 0), (15_000_000_010, 9, 9)],
)
def test_a_snapshot_is_taken_after_some_output_or_time(folder, monkeypatch, at, size, committed):
    monkeypatch.setattr("termvisor.pipeline.epoch_text._SNAPSHOT_BYTES", 10)
    writer = SegmentWriter(folder, 1 << 20)
    writer.append(b"x" * size, at)
    writer.close()
    text = open_reader(EPOCH, folder)
    text.read_step(100)
    progress = text.take_progress()
    assert progress is not None
    assert (progress.committed, text.stored_offset, text.is_snapshot_behind) == (committed, committed, committed < size)


def test_progress_carries_the_whole_state_of_the_text(folder):
    size = write_log(folder, b"one\r\ntwo")
    text = open_reader(EPOCH, folder)
    text.resize(40, 10)
    text.read_step(100)
    text.request_snapshot()
    progress = text.take_progress()
    assert progress is not None
    assert (progress.pane, progress.epoch, progress.committed) == (EPOCH.pane, EPOCH.id, size)
    carry = msgspec.msgpack.decode(progress.carry, type=EpochCarry).text
    state = (carry.width, carry.height, carry.is_alternate, carry.begun, carry.marks_to, carry.lines_after)
    assert state == (40, 10, False, InitialLine(), size, 0)
    assert ([checksum >= 0 for checksum in carry.checksums], carry.rewritten_at, carry.first_rewritten) == (
        ([True, False], 0, 2)
    )


def test_lines_stored_after_the_last_snapshot_are_not_stored_again(folder):
    write_log(folder, b"".join(b"line %d\r\n" % number for number in range(30)), b"last\r\n")
    text = open_reader(EPOCH, folder)
    text.read_step(240)
    first = text.take_progress()
    assert first is not None and first.committed == 0
    stored = [line for block in first.blocks for line in block.lines]
    text.text.confirm_stored()
    after = open_reader(replace(EPOCH, carry=first.carry), folder)
    assert after.read_offset == 240
    after.read_step(1000)
    rows = [*stored, *read_rows(after)]
    assert rows == [*(f"line {number}" for number in range(30)), "last"]


@pytest.mark.parametrize("size", [(0, 24), (80, 0), (80, 24)])
def test_a_size_that_says_nothing_new_changes_nothing(folder, size):
    write_log(folder, b"one\r\n")
    text = open_reader(EPOCH, folder)
    text.read_step(100)
    text.take_progress()
    assert not text.resize(*size)
    assert (text.text.size, text.take_progress()) == ((80, 24), None)


def test_an_unstored_line_says_everything_about_itself(folder):
    write_log(folder, b"one\r\ntwo")
    text = open_reader(EPOCH, folder)
    text.read_step(100)
    line = Line(pane=EPOCH.pane, number=8, at=100, text="one", epoch=EPOCH.id, is_provisional=True)
    assert (text.text.list_unstored_lines(8), text.text.count_unstored_lines()) == ([line], 1)
    text.finish()
    settled = [replace(line, is_provisional=False), replace(line, number=9, text="two", is_provisional=False)]
    assert (text.text.list_unstored_lines(8), text.text.count_unstored_lines()) == (settled, 2)
    assert text.text.join_unredacted() == "one\ntwo\n"


def test_the_first_screen_is_known_although_its_snapshot_was_lost(folder):
    files, begun = WindowFiles(f"{folder}-state"), InitialLine("$ ", 2)
    carry = seed_window(EPOCH, PaneCapture(rows=("$ ",), width=100, height=50, alternate=True), begun, files)
    assert carry == TextCarry(width=100, height=50, is_alternate=True, begun=begun)
    files.delete_all(EPOCH.id)
    text = open_reader(replace(EPOCH, carry=encode_first_carry(EPOCH, carry)), folder)
    assert (text.text.size, text.text.decoder.is_alternate) == ((100, 50), True)


def test_the_end_of_an_epoch_ends_its_repainting(folder):
    write_log(folder, b"\x1b[?1049hpainted")
    text = open_reader(EPOCH, folder)
    text.read_step(100)
    activity = text.take_paint_activity()
    assert activity is not None and activity.lifetime is not None
    text.final_size = text.read_offset
    assert text.take_paint_activity() == PaintActivity(EPOCH.pane, EPOCH.id)
    assert text.take_paint_activity() is None


def test_the_lines_that_left_the_screen_in_a_step_are_counted(folder):
    write_log(folder, b"line\r\n" * 30)
    text = open_reader(EPOCH, folder)
    text.read_step(1000)
    assert text.lines_read == 7
    text.read_step(1000)
    assert text.lines_read == 0


def test_a_snapshot_at_the_same_place_is_not_taken_again(folder):
    write_log(folder, b"one\r\n")
    text = open_reader(EPOCH, folder)
    text.read_step(100)
    for _ in range(2):
        text.text.request_snapshot()
        assert text.text.take_update(1).committed == 5
        text.text.confirm_stored()
        assert [path.name for path in Path(f"{folder}-state/windows").iterdir()] == ["3-5"]


def test_commands_after_a_hole_have_the_lines_that_follow_it(folder):
    marks = b"\x1b]133;C\x07out\r\n\x1b]133;D;0\x07"
    write_log(folder, b"one\r\n", b"lost\r\n", b"$ ls\r\n" + marks + b"$ \r\n", segment_bytes=1)
    os.remove(sorted(Path(folder).glob("*.raw"))[1])
    text = open_reader(EPOCH, folder)
    while text.read_step(1000):
        pass
    text.finish()
    progress = text.take_progress()
    assert progress is not None
    assert [line for block in progress.blocks for line in block.lines] == ["one", "$ ls", "out", "$"]
    assert [(boundary.is_end, lines) for boundary, lines in progress.edges] == [(False, 2), (True, 3)]


def test_lines_that_are_being_stored_are_read_from_memory_until_they_are(folder):
    write_log(folder, b"".join(b"line %d\r\n" % number for number in range(30)))
    text = open_reader(EPOCH, folder)
    text.read_step(1000)
    assert text.take_progress() is not None
    assert (read_rows(text)[::29], text.text.count_unstored_lines()) == (["line 0", "line 29"], 30)
    text.text.confirm_stored()
    assert (read_rows(text)[::22], text.text.count_unstored_lines()) == (["line 7", "line 29"], 23)
