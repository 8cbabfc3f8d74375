"""The terminal is restored in every case."""

import os
import signal
import termios
from collections.abc import Iterator

import pytest

from termvisor.frontends.tui.raw_terminal import RawTerminal


@pytest.fixture
def pty() -> Iterator[tuple[int, int]]:
    main, side = os.openpty()
    yield main, side
    os.close(main)
    os.close(side)


def test_mode_screen_and_signals_are_as_before_also_after_an_error(pty: tuple[int, int]) -> None:
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
