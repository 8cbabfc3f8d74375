"""The rows and status bar of the player."""

import pytest

from termvisor.clock import NS
from termvisor.frontends.tui.player.frame_view import build_view, cut_row, encode_changes
from termvisor.frontends.tui.player.playback import Playback
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import ReplayFrame
from termvisor.ops.render.text import measure_width, sanitize


def build_playback(*rows: str, width: int = 20, **more: object) -> Playback:
    playback = Playback()
    playback.add_frames([ReplayFrame(pane=PaneId(7), at=60 * NS, width=width, height=len(rows), rows=rows, **more)])
    return playback


def render_status_bar(playback: Playback, width: int = 150, note: str = "") -> str:
    return sanitize(build_view(playback, (width, 6), 120 * NS, note).rows[-1])


def test_frame_rows_are_above_the_status_bar():
    shown = build_view(build_playback("one", "two", cursor_x=1, cursor_y=1), (40, 5), 60 * NS)
    assert shown.rows[:4] == ("one", "two", "", "")
    assert (len(shown.rows), shown.cursor) == (5, (1, 1))


def test_the_status_bar_shows_position_speed_and_keys():
    text = render_status_bar(build_playback("x"))
    assert text.startswith(" ▶ 7 · 1970-01-01 00:01:00Z · 1m ago · 1×")
    assert text.endswith("space pause  ←→ 10s  ↑↓ 1min  . step  e event  +- speed  i idle  q quit ")


def test_the_status_bar_fits_any_width_and_drops_keys_first():
    for width in range(1, 160):
        assert measure_width(render_status_bar(build_playback("x"), width)) <= width
    assert render_status_bar(build_playback("x"), 100).endswith("q quit ")


def test_the_status_bar_shows_pause_end_idle_and_notes():
    playback = build_playback("x", note="gap: pipe_stolen\x1b[2J")
    playback.has_all = True
    playback.handle_key("idle")
    text = render_status_bar(playback, note="event: pane_died")
    assert "■ 7" in text
    assert "1× with idle time · gap: pipe_stolen · event: pane_died · end of the recording" in text
    playback.handle_key("pause")
    assert "❚❚ 7" in render_status_bar(playback)


def test_a_larger_recording_is_cut_with_a_note_around_its_cursor():
    rows = [f"row {number} " + "x" * 50 for number in range(10)]
    shown = build_view(build_playback(*rows, width=60, cursor_y=9), (20, 4), 60 * NS)
    assert shown.rows[0] == "row 7 xxxxxxxxxxxxxx"
    assert shown.rows[2].startswith("row 9")
    assert "cut from 60×10" in render_status_bar(build_playback(*rows, width=60))


def test_a_hidden_cursor_is_not_shown():
    assert build_view(build_playback("x", is_cursor_shown=False), (40, 5), 0).cursor is None


def test_before_the_first_frame_the_status_bar_says_rendering():
    assert "rendering" in render_status_bar(Playback())


@pytest.mark.parametrize(
    ("row", "width", "kept"),
    [
        ("plain text", 5, "plain"),
        ("\x1b[31mred and\x1b[0m more", 5, "\x1b[31mred a\x1b[0m"),
        ("日本語", 5, "日本"),
        ("short", 9, "short"),
    ],
)
def test_rows_are_cut_by_columns_and_keep_their_colours(row: str, width: int, kept: str):
    assert cut_row(row, width) == kept


def test_only_changed_rows_are_painted():
    first = build_view(build_playback("one", "two", cursor_x=3), (40, 5), 60 * NS)
    second = build_view(build_playback("one", "TWO", cursor_x=3), (40, 5), 60 * NS)
    painted = encode_changes(first, second).decode()
    assert "TWO" in painted
    assert "one" not in painted
    assert painted.endswith("\x1b[1;4H\x1b[?25h\x1b[?2026l")
    assert "\x1b[2J" in encode_changes(None, first).decode()


def test_escape_sequences_in_rows_are_removed():
    shown = build_view(build_playback("a\x1b]52;c;eA==\x07\x1b[2J\x1b[?1049lb\u202e"), (40, 5), 60 * NS)
    assert shown.rows[0] == "ab"
