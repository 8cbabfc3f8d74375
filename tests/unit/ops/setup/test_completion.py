"""The completion scripts and the pane list behind them."""

import shutil
from pathlib import Path

import pytest

from termvisor.ops.api.services import LocalServices
from termvisor.system.subprocesses import run_and_capture as run
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.testing.operation_calls import run_command


async def test_pane_completions_have_their_location_and_stay_in_one_line() -> None:
    services = FakeServices()
    services.add_pane(build_shell_facts("%1", session="a\nb|c\td", window=2, command="vi\x1b[2J"))
    assert (await run_command(services, "completion", "panes")).out == "1\ta b|c d:2 vi\n"
    assert (await run_command(LocalServices(), "completion", "panes")).out == ""


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
async def test_every_script_completes_commands_options_settings_and_event_kinds(name: str) -> None:
    script = (await run_command(FakeServices(), "completion", name)).out
    for word in ("list-panes", "view-output", "robot", "redact_patterns", "gap_recorded", "snippets"):
        assert word in script
    assert "@names@" not in script
    assert "@groups@" not in script


@pytest.mark.parametrize("name", [name for name in ("bash", "zsh", "fish") if shutil.which(name)])
async def test_the_shell_parses_its_script(name: str, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text((await run_command(FakeServices(), "completion", name)).out)
    assert run([name, "-n", str(script)])[::2] == (0, b"")
