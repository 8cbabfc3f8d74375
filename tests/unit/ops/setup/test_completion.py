"""The op behind the completion scripts."""

import shutil
from pathlib import Path

import pytest

from termvisor.ops.api.local_services import LocalWorld
from termvisor.system.subprocesses import ask as run
from termvisor.testing.asking import ask
from termvisor.testing.world import MemoryWorld, shell


async def test_panes_come_with_where_they_are_and_cannot_forge_a_line() -> None:
    world = MemoryWorld()
    world.pane(shell("%1", session="a\nb|c\td", window=2, command="vi\x1b[2J"))
    assert (await ask(world, "completion", "panes")).out == "1\ta b|c d:2 vi\n"
    assert (await ask(LocalWorld(), "completion", "panes")).out == ""


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
async def test_every_script_knows_commands_options_settings_and_event_kinds(name: str) -> None:
    script = (await ask(MemoryWorld(), "completion", name)).out
    for word in ("list-panes", "view-output", "robot", "redact_patterns", "gap_recorded", "snippets"):
        assert word in script
    assert "@names@" not in script
    assert "@groups@" not in script


@pytest.mark.parametrize("name", [name for name in ("bash", "zsh", "fish") if shutil.which(name)])
async def test_the_script_is_one_that_the_shell_can_read(name: str, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text((await ask(MemoryWorld(), "completion", name)).out)
    assert run([name, "-n", str(script)])[::2] == (0, b"")
