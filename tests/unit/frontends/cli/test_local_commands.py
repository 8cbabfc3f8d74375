"""The commands about the daemon itself."""

import pytest

from termvisor.__main__ import OWN
from termvisor.frontends.cli import local_commands as own


def test_the_entry_knows_them_all() -> None:
    assert set(OWN) == set(own.COMMANDS)


@pytest.mark.parametrize("name", OWN)
def test_each_explains_itself(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert own.run([name, "--help"]) == 0
    text = capfd.readouterr().out
    assert text.startswith(f"visor {name}")
    assert own.COMMANDS[name].doc in text


def test_a_wrong_option_is_told_with_the_right_one(capfd: pytest.CaptureFixture[str]) -> None:
    assert own.run(["up", "--intervall", "1"]) == 2
    assert "--interval" in capfd.readouterr().err
