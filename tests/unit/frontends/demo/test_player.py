"""Playing a demo scene."""

import pytest

from termvisor.frontends.demo.player import play_agent, play_scene


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
