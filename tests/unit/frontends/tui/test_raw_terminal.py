"""The terminal is restored in every case."""

import os
import signal
import termios
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.frontends.tui.raw_terminal import NAVIGATION_KEYS, KeyDecoder, RawTerminal

LIST_KEYS = NAVIGATION_KEYS | {
    b"k": "up",
    b"j": "down",
    b" ": "page_down",
    b"\x1b[F": "end",
    b"\x1b[4~": "end",
    b"G": "end",
}


@pytest.fixture
def pty() -> Iterator[tuple[int, int]]:
    main, side = os.openpty()
    yield main, side
    os.close(main)
    os.close(side)


def test_mode_screen_and_signals_are_restored_also_after_an_error(pty: tuple[int, int]) -> None:
    main, side = pty
    before, handler = termios.tcgetattr(side), signal.getsignal(signal.SIGTERM)
    with pytest.raises(ZeroDivisionError), RawTerminal(side, side):
        assert not termios.tcgetattr(side)[3] & (termios.ECHO | termios.ICANON)
        raise ZeroDivisionError
    assert termios.tcgetattr(side) == before
    assert signal.getsignal(signal.SIGTERM) == handler
    painted = os.read(main, 4096)
    while not painted.endswith(b"\x1b[?1049l"):
        painted += os.read(main, 4096)
    assert painted.startswith(b"\x1b[?1049h")


def test_another_program_gets_the_terminal_as_it_was(pty: tuple[int, int]) -> None:
    main, side = pty
    before, handler = termios.tcgetattr(side), signal.getsignal(signal.SIGTERM)
    with RawTerminal(side, side) as terminal:
        with terminal.lend():
            assert (termios.tcgetattr(side), signal.getsignal(signal.SIGTERM)) == (before, handler)
        assert not termios.tcgetattr(side)[3] & termios.ECHO
        os.write(main, b"j")
        assert terminal.wait_for_keys(60.0) == b"j"
    assert termios.tcgetattr(side) == before


def test_keys_are_read_unbuffered(pty: tuple[int, int]) -> None:
    main, side = pty
    with RawTerminal(side, side) as terminal:
        os.write(main, b"j")
        assert terminal.wait_for_keys(60.0) == b"j"
        assert terminal.wait_for_keys(0.0) is None


@pytest.mark.parametrize(
    ("number", "is_over"), [(signal.SIGWINCH, False), (signal.SIGTERM, True), (signal.SIGHUP, True)]
)
def test_a_signal_ends_the_wait(pty: tuple[int, int], number: int, is_over: bool) -> None:
    _, side = pty
    with RawTerminal(side, side) as terminal:
        os.kill(os.getpid(), number)
        assert terminal.wait_for_keys(60.0) is None
        assert terminal.is_closed == is_over


def test_keys_are_parsed_by_name_and_unknown_ones_skipped() -> None:
    data = b"\x1b[A\x1bOBx\x1b[5~\x1b[6~\x1b[1;5C\x1b[H\x1b[4~jk g G q\x03"
    names = "up down page_up page_down home end down up page_down home page_down end page_down quit quit"
    assert KeyDecoder(LIST_KEYS).feed(data) == names.split()


def test_a_sequence_may_arrive_in_pieces() -> None:
    keys = KeyDecoder(LIST_KEYS)
    assert [keys.feed(piece) for piece in (b"\x1b", b"[", b"5", b"~q")] == [[], [], [], ["page_up", "quit"]]


def test_a_lone_escape_does_not_swallow_the_next_key() -> None:
    assert KeyDecoder(LIST_KEYS).feed(b"\x1b\x1b[A") == ["up"]


@given(st.lists(st.binary(max_size=200), max_size=20))
def test_any_terminal_input_is_accepted(pieces: list[bytes]) -> None:
    keys = KeyDecoder(LIST_KEYS)
    for piece in pieces:
        keys.feed(piece)
    assert len(keys._rest) <= 32
