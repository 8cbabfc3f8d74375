"""Playback position, speed and seeking, key by key."""

import pytest

from termvisor.clock import NS
from termvisor.frontends.tui.player.playback import MAX_FRAMES, PLAYER_KEYS, Playback, SeekRequest
from termvisor.frontends.tui.raw_terminal import KeyDecoder
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import ReplayFrame


def build_frames(*seconds: float) -> list[ReplayFrame]:
    return [ReplayFrame(pane=PaneId(1), at=int(at * NS), width=10, height=2, rows=(str(at),)) for at in seconds]


def build_playback(*seconds: float, has_all: bool = True) -> Playback:
    playback = Playback()
    playback.add_frames(build_frames(*seconds))
    playback.has_all = has_all
    return playback


def read_shown_text(playback: Playback) -> str:
    return playback.frame.rows[0] if playback.frame else ""


def test_frames_are_shown_when_they_are_due():
    playback = build_playback(100, 101, 101.5, 103)
    assert (read_shown_text(playback), playback.compute_delay()) == ("100", 1.0)
    playback.advance(0.5)
    assert (read_shown_text(playback), playback.compute_delay()) == ("100", 0.5)
    playback.advance(1.1)
    assert read_shown_text(playback) == "101.5"
    playback.advance(10)
    assert (read_shown_text(playback), playback.is_at_end, playback.compute_delay()) == ("103", True, None)
    assert playback.position == 103 * NS


def test_a_long_pause_is_shortened_to_two_seconds_unless_disabled():
    playback = build_playback(100, 200, 201)
    assert playback.compute_delay() == 2.0
    playback.advance(2.0)
    assert (read_shown_text(playback), playback.position) == ("200", 200 * NS)
    playback = build_playback(100, 200)
    playback.handle_key("idle")
    playback.advance(2.0)
    assert (read_shown_text(playback), playback.compute_delay()) == ("100", 98.0)


def test_speed_changes_in_steps_and_has_limits():
    playback = build_playback(100, 110)
    playback.handle_key("idle")
    playback.handle_key("faster")
    assert (playback.speed, playback.compute_delay()) == (2.0, 5.0)
    for _ in range(20):
        playback.handle_key("slower")
    assert playback.speed == 0.1
    for _ in range(20):
        playback.handle_key("faster")
    assert playback.speed == 64.0


def test_time_does_not_pass_while_paused():
    playback = build_playback(100, 101)
    playback.handle_key("pause")
    playback.advance(50)
    assert (read_shown_text(playback), playback.compute_delay()) == ("100", None)
    playback.handle_key("pause")
    playback.advance(1)
    assert read_shown_text(playback) == "101"


def test_step_keys_pause_and_move_one_frame():
    playback = build_playback(100, 150, 151)
    playback.handle_key("step")
    assert (read_shown_text(playback), playback.is_paused, playback.position) == ("150", True, 150 * NS)
    playback.handle_key("step_back")
    playback.handle_key("step_back")
    assert read_shown_text(playback) == "100"


@pytest.mark.parametrize(
    ("key", "expected"), [("right", "115"), ("left", "100"), ("up", "160"), ("down", "100"), ("home", "100")]
)
def test_seeking_within_fetched_frames_is_instant(key: str, expected: str):
    playback = build_playback(100, 105, 115, 160)
    playback.seek_to(105 * NS)
    assert playback.handle_key(key) is None
    assert read_shown_text(playback) == expected


def test_seeking_outside_fetched_frames_requests_them():
    playback = build_playback(100, 105, has_all=False)
    assert playback.handle_key("up") == SeekRequest(160 * NS)
    playback.restart_at(50 * NS)
    assert read_shown_text(playback) == "100", "the old frame stays until a new one is there"
    playback.add_frames(build_frames(50, 60))
    assert (read_shown_text(playback), playback.position) == ("50", 50 * NS)
    assert playback.handle_key("left") == SeekRequest(40 * NS)
    assert playback.handle_key("home") == SeekRequest(0)


def test_seeking_before_the_beginning_requests_nothing():
    playback = build_playback(100, 105)
    playback.advance(5)
    assert playback.handle_key("left") is None
    assert (read_shown_text(playback), playback.position) == ("100", 100 * NS)


def test_a_slow_stream_waits_for_its_next_frame():
    playback = build_playback(100, has_all=False)
    playback.advance(60)
    assert not playback.is_at_end
    playback.add_frames(build_frames(103))
    playback.advance(0.1)
    assert read_shown_text(playback) == "103"


def test_memory_is_bounded_and_dropped_frames_are_fetched_again():
    playback = build_playback(*range(MAX_FRAMES), has_all=False)
    playback.seek_to((MAX_FRAMES - 1) * NS)
    playback.add_frames(build_frames(*range(MAX_FRAMES, MAX_FRAMES + 50)))
    assert playback.frames_ahead == 50
    assert playback.seek_to(10 * NS) == SeekRequest(10 * NS)


def test_without_frames_seeking_does_nothing():
    playback = Playback()
    assert [playback.handle_key(key) for key in ("left", "step", "home")] == [None] * 3
    playback.advance(5)
    assert playback.frame is None


def test_quit_and_event_keys_are_returned_to_the_player():
    playback = build_playback(100)
    assert [playback.handle_key(key) for key in ("quit", "next_event", "previous_event", "unknown")] == [
        "quit",
        "next_event",
        "previous_event",
        None,
    ]


def test_terminal_keys_are_mapped_to_commands():
    typed = b" \x1b[C\x1bOD\x1b[A\x1b[1;2D.eE+-iq"
    assert KeyDecoder(PLAYER_KEYS).feed(typed) == [
        *("pause", "right", "left", "up", "down", "step", "next_event", "previous_event"),
        *("faster", "slower", "idle", "quit"),
    ]
