"""Follow the screens of a polled pane."""

import pytest

from termvisor.backends.pane_source import PaneCapture
from termvisor.capture.screen_follower import ScreenFollower

HEIGHT = 6


def show(*rows: str, above: tuple[str, ...] = ()) -> PaneCapture:
    """Return a screen whose cursor is at the end of the last of these rows."""
    shown = (*above, *rows, *[""] * (HEIGHT - len(rows)))
    return PaneCapture(rows=shown, width=80, height=HEIGHT, cursor_x=len(rows[-1]), cursor_y=len(rows) - 1)


def test_the_first_screen_is_known_and_new_rows_follow_it() -> None:
    follower = ScreenFollower()
    assert follower.follow(show("$ make", "one", "")) == ""
    assert follower.follow(show("$ make", "one", "two", "")) == "two\r\n"
    assert follower.follow(show("$ make", "one", "two", "")) == ""


def test_the_row_of_the_cursor_is_rewritten_until_it_is_finished() -> None:
    follower = ScreenFollower()
    follower.follow(show("$"))
    assert follower.follow(show("$ l")) == "\r\x1b[K$ l"
    assert follower.follow(show("$ ls")) == "s"
    assert follower.follow(show("$ la")) == "\r\x1b[K$ la"
    assert follower.follow(show("$ la", "file", "$")) == "\r\nfile\r\n$"


def test_a_screen_that_scrolled_continues_where_three_lines_prove_it() -> None:
    follower = ScreenFollower()
    follower.follow(show("a", "b", "c", "d", "e", ""))
    assert follower.follow(show("c", "d", "e", "f", "g", "")) == "f\r\ng\r\n"
    assert follower.follow(show("g", "h", "i", "j", "k", "")) is None
    assert follower.follow(show("g", "h", "i", "j", "k", "", above=("e", "f"))) == "h\r\ni\r\nj\r\nk\r\n"


@pytest.mark.parametrize("rows", [("x", "x", "x", "x", "x", ""), ("other", "")])
def test_equal_or_cleared_rows_prove_nothing(rows: tuple[str, ...]) -> None:
    follower = ScreenFollower()
    follower.follow(show("x", "x", "x", "x", "x", ""))
    assert follower.follow(show(*rows)) is None


def test_a_short_scrollback_continues_a_screen_that_had_not_scrolled() -> None:
    follower = ScreenFollower()
    follower.follow(show(""))
    assert follower.follow(show("c", "d", "e", "f", "g", "")) is None
    assert follower.follow(show("c", "d", "e", "f", "g", "", above=("a", "b"))) == "a\r\nb\r\nc\r\nd\r\ne\r\nf\r\ng\r\n"
    assert follower.follow(show("x", "x", "x", "x", "x", "", above=("a", "b"))) is None


def test_a_few_equal_rows_that_did_not_move_are_continued() -> None:
    follower = ScreenFollower()
    follower.follow(show("x", "x", ""))
    assert follower.follow(show("x", "x", "x", "")) == "x\r\n"
