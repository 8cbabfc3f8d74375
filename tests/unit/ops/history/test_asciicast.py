"""Frames and markers written as an asciicast of version 2 or 3."""

import re

import msgspec
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.model.event import Event
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.command import ShellCommand
from termvisor.model.terminal.screen import ReplayFrame
from termvisor.ops.history._asciicast import (
    AsciicastWriter,
    CastMarker,
    build_markers,
    find_exit_status,
    render_repaint,
)

PANE = PaneId(1)
FRAME = ReplayFrame(pane=PANE, at=10 * NS, width=10, height=3, rows=("a", "b", "c"), cursor_x=1, cursor_y=2)


def parse_events(*lines: str) -> list[list[object]]:
    return [msgspec.json.decode(line) for line in lines]


def test_version_2_has_times_since_the_start_and_the_exit_as_a_marker():
    cast = AsciicastWriter()
    assert msgspec.json.decode(cast.write_header(FRAME, "pane 1")) == {
        "version": 2,
        "width": 10,
        "height": 3,
        "timestamp": 10,
        "idle_time_limit": 2.0,
        "title": "pane 1",
    }
    lines = [cast.write_marker(CastMarker(at * NS, "here")) for at in (11, 13)]
    assert parse_events(*lines, cast.write_exit(14 * NS, 3)) == [
        [1.0, "m", "here"],
        [3.0, "m", "here"],
        [4.0, "m", "exit status 3"],
    ]


def test_the_header_has_version_size_and_time():
    header = msgspec.json.decode(AsciicastWriter("3").write_header(FRAME, "pane 1: \x1b]0;bash"))
    assert header == {
        "version": 3,
        "term": {"cols": 10, "rows": 3, "type": "xterm-256color"},
        "timestamp": 10,
        "idle_time_limit": 2.0,
        "title": "pane 1: ",
    }


def test_the_first_frame_is_painted_completely_then_only_changes():
    assert render_repaint(None, FRAME).count("\x1b[2K") == 3
    second = replace(FRAME, rows=("a", "B", "c"))
    assert render_repaint(FRAME, second) == "\x1b[2;1H\x1b[2KB\x1b[3;2H\x1b[?25h"
    assert render_repaint(FRAME, replace(FRAME, cursor_x=2)) == "\x1b[3;3H\x1b[?25h"
    assert render_repaint(FRAME, replace(FRAME, is_cursor_shown=False)).endswith("\x1b[?25l")
    assert render_repaint(FRAME, replace(FRAME, at=99 * NS)) == ""


def test_a_row_that_became_empty_is_erased():
    assert "\x1b[2;1H\x1b[2K\x1b[3;2H" in render_repaint(FRAME, replace(FRAME, rows=("a", "", "c")))


def test_times_are_seconds_since_the_event_before_and_do_not_drift():
    cast = AsciicastWriter("3")
    cast.write_header(FRAME, "")
    lines = []
    for number in range(1, 31):
        frame = replace(FRAME, at=10 * NS + number * NS // 30, rows=(str(number), "", ""))
        lines += cast.write_frame(frame)
    found = parse_events(*lines)
    assert abs(sum(interval for interval, _, _ in found) - 1.0) < 0.0005
    assert all(interval in (0.033, 0.034) for interval, _, _ in found)


def test_time_never_runs_backwards():
    cast = AsciicastWriter("3")
    cast.write_header(FRAME, "")
    ((interval, code, text),) = parse_events(cast.write_marker(CastMarker(9 * NS, "early")))
    assert (interval, code, text) == (0.0, "m", "early")


def test_a_resize_is_written_and_repainted():
    cast = AsciicastWriter("3")
    cast.write_header(FRAME, "")
    list(cast.write_frame(FRAME))
    resized, painted = parse_events(*cast.write_frame(replace(FRAME, at=11 * NS, width=20, rows=("a", "b", "c"))))
    assert resized == [1.0, "r", "20x3"]
    assert "\x1b[2J" in painted[2]


def test_a_gap_is_a_marker():
    cast = AsciicastWriter("3")
    cast.write_header(FRAME, "")
    *_, gap = parse_events(*cast.write_frame(replace(FRAME, note="gap: pipe_stolen")))
    assert gap == [0.0, "m", "gap: pipe_stolen"]


def test_rows_contain_only_text_and_colour_sequences():
    painted = render_repaint(None, replace(FRAME, rows=("\x1b[31mred\x1b]0;t\x07\x1b[2Jx\x9bm", "\u202eb", "")))
    assert "\x1b[31mredx" in painted
    assert set(re.findall(r"\x1b\[[0-9;?]*([A-Za-z])", painted)) <= set("lhmJHK")
    assert "\x1b]" not in painted
    assert "\u202e" not in painted


def test_markers_are_commands_and_events_in_order():
    command = ShellCommand(pane=PANE, epoch=EpochId(1), line="make", started_at=5, start=0, first_line=1)
    happened = [
        Event(at=2, kind="pane_moved", data={"session": "work", "window": ""}),
        Event(at=3, kind="gap_recorded"),
        Event(at=4, kind="pane_resized"),
    ]
    assert build_markers([command], happened) == [CastMarker(2, "pane_moved session=work"), CastMarker(5, "$ make")]


def test_a_secret_in_a_marker_is_masked():
    key = "ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    assert key not in AsciicastWriter("3").write_marker(CastMarker(0, f"$ curl -H {key}"))


def test_the_exit_status_is_that_of_the_program_or_of_its_signal():
    assert find_exit_status([Event(at=1, kind="pane_gone")]) is None
    assert find_exit_status([Event(at=7, kind="pane_died", data={"status": 3, "signal": None})]) == (7, 3)
    assert find_exit_status([Event(at=7, kind="pane_died", data={"status": None, "signal": 9})]) == (7, 137)
