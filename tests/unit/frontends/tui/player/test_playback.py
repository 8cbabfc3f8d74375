"""Where a film stands, key by key and second by second."""

import pytest

from termvisor.clock import NS
from termvisor.frontends.tui.keys import Keys
from termvisor.frontends.tui.player.playback import KEPT, KEYS, Playback, Seek
from termvisor.model.ids import PaneId
from termvisor.model.terminal.frame import Frame


def frames(*seconds: float) -> list[Frame]:
    return [Frame(pane=PaneId(1), at=int(at * NS), width=10, height=2, rows=(str(at),)) for at in seconds]


def playing(*seconds: float, has_all: bool = True) -> Playback:
    playback = Playback()
    playback.add(frames(*seconds))
    playback.has_all = has_all
    return playback


def shown(playback: Playback) -> str:
    return playback.frame.rows[0] if playback.frame else ""


def test_frames_are_shown_when_they_are_due():
    film = playing(100, 101, 101.5, 103)
    assert (shown(film), film.due_in()) == ("100", 1.0)
    film.advance(0.5)
    assert (shown(film), film.due_in()) == ("100", 0.5)
    film.advance(1.1)
    assert shown(film) == "101.5"
    film.advance(10)
    assert (shown(film), film.is_at_end, film.due_in()) == ("103", True, None)
    assert film.position == 103 * NS


def test_a_long_pause_is_shortened_to_two_seconds_unless_the_reader_wants_it_whole():
    film = playing(100, 200, 201)
    assert film.due_in() == 2.0
    film.advance(2.0)
    assert (shown(film), film.position) == ("200", 200 * NS)
    film = playing(100, 200)
    film.press("idle")
    film.advance(2.0)
    assert (shown(film), film.due_in()) == ("100", 98.0)


def test_speed_goes_up_and_down_in_steps_and_has_ends():
    film = playing(100, 110)
    film.press("idle")
    film.press("faster")
    assert (film.speed, film.due_in()) == (2.0, 5.0)
    for _ in range(20):
        film.press("slower")
    assert film.speed == 0.1
    for _ in range(20):
        film.press("faster")
    assert film.speed == 64.0


def test_while_paused_time_stands_still():
    film = playing(100, 101)
    film.press("pause")
    film.advance(50)
    assert (shown(film), film.due_in()) == ("100", None)
    film.press("pause")
    film.advance(1)
    assert shown(film) == "101"


def test_steps_pause_and_go_one_frame_forth_and_back():
    film = playing(100, 150, 151)
    film.press("step")
    assert (shown(film), film.is_paused, film.position) == ("150", True, 150 * NS)
    film.press("step_back")
    film.press("step_back")
    assert shown(film) == "100"


@pytest.mark.parametrize(
    ("key", "expected"), [("right", "115"), ("left", "100"), ("up", "160"), ("down", "100"), ("home", "100")]
)
def test_seeking_within_what_is_known_is_instant(key: str, expected: str):
    film = playing(100, 105, 115, 160)
    film.seek(105 * NS)
    assert film.press(key) is None
    assert shown(film) == expected


def test_what_is_not_known_must_be_fetched():
    film = playing(100, 105, has_all=False)
    assert film.press("up") == Seek(160 * NS)
    film.begin_at(50 * NS)
    assert shown(film) == "100", "the old frame stays until a new one is there"
    film.add(frames(50, 60))
    assert (shown(film), film.position) == ("50", 50 * NS)
    assert film.press("left") == Seek(40 * NS)
    assert film.press("home") == Seek(0)


def test_before_the_beginning_there_is_nothing_to_fetch():
    film = playing(100, 105)
    film.advance(5)
    assert film.press("left") is None
    assert (shown(film), film.position) == ("100", 100 * NS)


def test_a_film_that_comes_slowly_waits_for_its_next_frame():
    film = playing(100, has_all=False)
    film.advance(60)
    assert not film.is_at_end
    film.add(frames(103))
    film.advance(0.1)
    assert shown(film) == "103"


def test_memory_is_bounded_and_what_was_dropped_is_fetched_again():
    film = playing(*range(KEPT), has_all=False)
    film.seek((KEPT - 1) * NS)
    film.add(frames(*range(KEPT, KEPT + 50)))
    assert film.ahead == 50
    assert film.seek(10 * NS) == Seek(10 * NS)


def test_nothing_can_be_sought_before_anything_came():
    film = Playback()
    assert [film.press(key) for key in ("left", "step", "home")] == [None] * 3
    film.advance(5)
    assert film.frame is None


def test_wishes_are_passed_on():
    film = playing(100)
    assert [film.press(key) for key in ("quit", "next_event", "previous_event", "unknown")] == [
        "quit",
        "next_event",
        "previous_event",
        None,
    ]


def test_keys_of_a_terminal_have_their_meaning():
    typed = b" \x1b[C\x1bOD\x1b[A\x1b[1;2D.eE+-iq"
    assert Keys(KEYS).feed(typed) == [
        *("pause", "right", "left", "up", "down", "step", "next_event", "previous_event"),
        *("faster", "slower", "idle", "quit"),
    ]
