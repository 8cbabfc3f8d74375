"""Collect JSON lines from output."""

import pytest

from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import Delta, Epoch
from termvisor.pipeline.epoch_text import EpochText, TextCarry
from termvisor.pipeline.json_lines import JsonLineCollector
from termvisor.pipeline.window_files import WindowFiles
from termvisor.recorder.segment_log import SegmentReader
from termvisor.terminal.row_window import LINE_LIMIT

EVENT = '{"type":"turn.started"}'
EPOCH = Epoch(id=EpochId(1), pane=PaneId(1), source="pipe", opened_at=1)


@pytest.fixture
def collect_lines(tmp_path):
    def collect(*pieces: bytes) -> list[tuple[int, int, str]]:
        """Return the JSON lines of these bytes, read piece by piece, with their times and offsets."""
        text = EpochText(EPOCH, TextCarry(), WindowFiles(str(tmp_path)), SegmentReader(str(tmp_path)))
        found = JsonLineCollector(0)
        offset = 0
        for data in pieces:
            text.feed(Delta(EPOCH.id, offset, data, 5))
            found.collect_lines(text, data)
            offset += len(data)
        return [(line.at, line.end, line.text) for line in found.take_lines()]

    return collect


def test_an_object_alone_on_its_line_has_its_offset_and_time(collect_lines):
    assert collect_lines(b"$ codex\r\n" + EVENT.encode() + b"\r\n") == [(5, 11 + len(EVENT), EVENT)]


def test_a_secret_in_an_object_is_redacted(collect_lines):
    ((_, _, text),) = collect_lines(b'{"type":"x","key":"ghp_' + b"a1B2c3D4" * 4 + b'e5F6"}\r\n')
    assert "redacted" in text


def test_chunk_borders_do_not_change_the_json_lines(collect_lines):
    data = f"$ codex exec --json\r\n{EVENT}\r\n".encode()
    for at in range(len(data)):
        assert [text for _, _, text in collect_lines(data[:at], data[at:])] == [EVENT]


def test_terminal_sequences_before_the_object_are_ignored(collect_lines):
    assert [text for _, _, text in collect_lines(f"\x1b[?2004l\r{EVENT}\r\n".encode())] == [EVENT]


def test_json_inside_or_at_an_unfinished_line_is_ignored(collect_lines):
    for data in (f"  {EVENT}\r\n", f"> {EVENT}\r\n", EVENT):
        assert collect_lines(data.encode()) == []


def test_a_line_that_is_too_long_is_ignored(collect_lines):
    long = '{"type":"item.completed","item":"' + "x" * LINE_LIMIT + '"}'
    assert [text for _, _, text in collect_lines(f"{long}\r\n{EVENT}\r\n".encode())] == [EVENT]


def test_only_the_last_lines_are_kept(collect_lines):
    found = collect_lines("".join(f'{{"type":"n","n":{number}}}\r\n' for number in range(1000)).encode())
    assert len(found) == 128
    assert found[-1][2] == '{"type":"n","n":999}'
