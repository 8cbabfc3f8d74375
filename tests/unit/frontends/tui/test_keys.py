"""Decoding of terminal keys."""

from hypothesis import given
from hypothesis import strategies as st

from termvisor.frontends.tui.keys import KeyDecoder


def test_keys_are_known_by_name_and_others_passed_over() -> None:
    data = b"\x1b[A\x1bOBx\x1b[5~\x1b[6~\x1b[1;5C\x1b[H\x1b[4~jk g G q\x03"
    names = "up down page_up page_down home end down up page_down home page_down end page_down quit quit"
    assert KeyDecoder().feed(data) == names.split()


def test_a_sequence_may_come_in_pieces() -> None:
    keys = KeyDecoder()
    assert [keys.feed(piece) for piece in (b"\x1b", b"[", b"5", b"~q")] == [[], [], [], ["page_up", "quit"]]


def test_a_lone_escape_does_not_swallow_the_next_key() -> None:
    assert KeyDecoder().feed(b"\x1b\x1b[A") == ["up"]


@given(st.lists(st.binary(max_size=200), max_size=20))
def test_nothing_that_a_terminal_sends_breaks_it(pieces: list[bytes]) -> None:
    keys = KeyDecoder()
    for piece in pieces:
        keys.feed(piece)
    assert len(keys._rest) <= 32
