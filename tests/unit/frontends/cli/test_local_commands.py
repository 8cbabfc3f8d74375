"""The commands that the client runs itself."""

import pytest

from termvisor.__main__ import LOCAL_COMMANDS
from termvisor.frontends.cli import local_commands


def test_the_entry_point_lists_all_local_commands() -> None:
    assert set(LOCAL_COMMANDS) == set(local_commands.LOCAL_COMMANDS)


@pytest.mark.parametrize("name", LOCAL_COMMANDS)
def test_every_local_command_has_help(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert local_commands.run_local_command([name, "--help"]) == 0
    text = capfd.readouterr().out
    assert text.startswith(f"visor {name}")
    assert local_commands.LOCAL_COMMANDS[name].doc in text


def test_a_wrong_option_gets_a_suggestion(capfd: pytest.CaptureFixture[str]) -> None:
    assert local_commands.run_local_command(["up", "--onec"]) == 2
    assert "--once" in capfd.readouterr().err
