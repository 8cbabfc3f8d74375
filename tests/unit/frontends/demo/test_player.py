"""Playing a scene."""

import pytest

from termvisor.frontends.demo.player import play


def test_text_is_printed_beat_by_beat_with_rests_between(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    rests: list[float] = []
    play(iter([("a⠋\r\n", 0.5), ("b", 2.0)]), rests.append)
    assert capfdbinary.readouterr().out == "a⠋\r\nb".encode()
    assert rests == [0.5, 2.0]
