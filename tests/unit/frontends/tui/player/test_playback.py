"""Playback position, speed and seeking, key by key."""

import pytest

from termvisor.clock import NS
from termvisor.frontends.tui.player.playback import MAX_FRAMES, PLAYER_KEYS, Playback, SeekRequest
from termvisor.frontends.tui.raw_terminal import KeyDecoder
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import ReplayFrame


def frames(*seconds: float) -> list[ReplayFrame]:
    return [ReplayFrame(pane=PaneId(1), at=int(at * NS), width=10, height=2, rows=(str(at),)) for at in seconds]


def playing(*seconds: float, has_all: bool = True) -> Playback:
    playback = Playback()
    playback.add_frames(frames(*seconds))
    playback.has_all = has_all
    return playback


def shown(playback: Playback) -> str:
    return playback.frame.rows[0] if playback.frame else ""


def test_frames_are_shown_when_they_are_due():
    film = playing(100, 101, 101.5, 103)
    assert (shown(film), film.compute_delay()) == ("100", 1.0)
    film.advance(0.5)
    assert (shown(film), film.compute_delay()) == ("100", 0.5)
    film.advance(1.1)
    assert shown(film) == "101.5"
    film.advance(10)
    assert (shown(film), film.is_at_end, film.compute_delay()) == ("103", True, None)
    assert film.position == 103 * NS


def test_a_long_pause_is_shortened_to_two_seconds_unless_the_reader_wants_it_whole():
    film = playing(100, 200, 201)
    assert film.compute_delay() == 2.0
    film.advance(2.0)
    assert (shown(film), film.position) == ("200", 200 * NS)
    film = playing(100, 200)
    film.handle_key("idle")
    film.advance(2.0)
    assert (shown(film), film.compute_delay()) == ("100", 98.0)


def test_speed_goes_up_and_down_in_steps_and_has_ends():
    film = playing(100, 110)
    film.handle_key("idle")
    film.handle_key("faster")
    assert (film.speed, film.compute_delay()) == (2.0, 5.0)
    for _ in range(20):
        film.handle_key("slower")
    assert film.speed == 0.1
    for _ in range(20):
        film.handle_key("faster")
    assert film.speed == 64.0


def test_time_does_not_pass_while_paused():
    film = playing(100, 101)
    film.handle_key("pause")
    film.advance(50)
    assert (shown(film), film.compute_delay()) == ("100", None)
    film.handle_key("pause")
    film.advance(1)
    assert shown(film) == "101"


def test_steps_pause_and_go_one_frame_forth_and_back():
    film = playing(100, 150, 151)
    film.handle_key("step")
    assert (shown(film), film.is_paused, film.position) == ("150", True, 150 * NS)
    film.handle_key("step_back")
    film.handle_key("step_back")
    assert shown(film) == "100"


@pytest.mark.parametrize(
    ("key", "expected"), [("right", "115"), ("left", "100"), ("up", "160"), ("down", "100"), ("home", "100")]
)
def test_seeking_within_what_is_known_is_instant(key: str, expected: str):
    film = playing(100, 105, 115, 160)
    film.seek_to(105 * NS)
    assert film.handle_key(key) is None
    assert shown(film) == expected


def test_what_is_not_known_must_be_fetched():
    film = playing(100, 105, has_all=False)
    assert film.handle_key("up") == SeekRequest(160 * NS)
    film.restart_at(50 * NS)
    assert shown(film) == "100", "the old frame stays until a new one is there"
    film.add_frames(frames(50, 60))
    assert (shown(film), film.position) == ("50", 50 * NS)
    assert film.handle_key("left") == SeekRequest(40 * NS)
    assert film.handle_key("home") == SeekRequest(0)


def test_before_the_beginning_there_is_nothing_to_fetch():
    film = playing(100, 105)
    film.advance(5)
    assert film.handle_key("left") is None
    assert (shown(film), film.position) == ("100", 100 * NS)


def test_a_slow_stream_waits_for_its_next_frame():
    film = playing(100, has_all=False)
    film.advance(60)
    assert not film.is_at_end
    film.add_frames(frames(103))
    film.advance(0.1)
    assert shown(film) == "103"


def test_memory_is_bounded_and_what_was_dropped_is_fetched_again():
    film = playing(*range(MAX_FRAMES), has_all=False)
    film.seek_to((MAX_FRAMES - 1) * NS)
    film.add_frames(frames(*range(MAX_FRAMES, MAX_FRAMES + 50)))
    assert film.frames_ahead == 50
    assert film.seek_to(10 * NS) == SeekRequest(10 * NS)


def test_nothing_can_be_sought_before_anything_came():
    film = Playback()
    assert [film.handle_key(key) for key in ("left", "step", "home")] == [None] * 3
    film.advance(5)
    assert film.frame is None


def test_wishes_are_passed_on():
    film = playing(100)
    assert [film.handle_key(key) for key in ("quit", "next_event", "previous_event", "unknown")] == [
        "quit",
        "next_event",
        "previous_event",
        None,
    ]


def test_keys_of_a_terminal_have_their_meaning():
    typed = b" \x1b[C\x1bOD\x1b[A\x1b[1;2D.eE+-iq"
    assert KeyDecoder(PLAYER_KEYS).feed(typed) == [
        *("pause", "right", "left", "up", "down", "step", "next_event", "previous_event"),
        *("faster", "slower", "idle", "quit"),
    ]
