"""Playing a demo scene."""

import os
import signal

import pytest

from termvisor.frontends.demo.fake_agents import REDRAW_KEY
from termvisor.frontends.demo.player import KeyReader, play_agent, play_scene


def test_text_is_printed_in_steps_with_pauses_between(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    rests: list[float] = []
    play_scene(iter([("a⠋\r\n", 0.5), ("b", 2.0)]), rests.append)
    assert capfdbinary.readouterr().out == "a⠋\r\nb".encode()
    assert rests == [0.5, 2.0]


def test_an_agent_script_receives_keys_and_ends(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    received_keys: list[bytes] = []
    rests: list[float | None] = []

    def agent():
        received_keys.append((yield "a", 1.0))
        received_keys.append((yield "b", None))

    def listen(seconds: float | None) -> bytes:
        rests.append(seconds)
        return f"{len(rests)}".encode()

    play_agent(agent(), listen)
    assert capfdbinary.readouterr().out == b"ab"
    assert (received_keys, rests) == ([b"1", b"2"], [1.0, None])


def test_a_resize_is_read_as_the_key_that_paints_again() -> None:
    source, keyboard = os.pipe()
    before, wakeup = signal.getsignal(signal.SIGWINCH), signal.set_wakeup_fd(-1)
    try:
        reader = KeyReader(source)
        os.write(keyboard, b"y")
        assert reader.read(None) == b"y"
        os.kill(os.getpid(), signal.SIGWINCH)
        assert reader.read(None) == REDRAW_KEY
        assert reader.read(0.0) == b""
    finally:
        signal.signal(signal.SIGWINCH, before)
        signal.set_wakeup_fd(wakeup)
        os.close(source)
        os.close(keyboard)
