"""`agents new` describes the program in a pane, and adds its screens as examples."""

import tomllib
from pathlib import Path

from termvisor.settings import Paths
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def build_services(folder: Path):
    return await build_sample_services(Paths(str(folder), str(folder), str(folder)), op="agents_new")


async def test_the_file_names_the_program_and_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "agents" / "mine.toml"
    services = await build_services(tmp_path)
    result = await run_command(services, "agents", "new", "mine", "--pane", "2")
    assert f"wrote {path}" in result.out
    assert "Fix the tests?" in result.out
    assert "which state does the screen show?" in result.out
    before = path.read_text()
    assert tomllib.loads(before)["process"] == {"programs": ["mine"], "scripts": ["/mine$"], "excluded": []}
    assert f"found {path}" in (await run_command(services, "agents", "new", "mine", "--pane", "2")).out
    assert path.read_text() == before


async def test_a_screen_is_saved_as_an_example_and_a_wrong_state_is_reported(tmp_path: Path) -> None:
    services = await build_services(tmp_path)
    result = await run_command(services, "agents", "new", "mine", "--pane", "2", "--shows", "running")
    assert "error: " in result.out
    assert "number 1 shows running, but is classified as" in result.out
    (example,) = tomllib.loads((tmp_path / "agents" / "mine.toml").read_text())["example"]
    assert (example["state"], example["cursor"]) == ("running", [2, 1])
    assert example["screen"].startswith("╭─ Fix the tests?")


async def test_the_name_of_an_adapter_is_refused(tmp_path: Path) -> None:
    result = await run_command(await build_services(tmp_path), "agents", "new", "copilot", "--pane", "2")
    assert "copilot is the name of an adapter" in result.err
    assert not (tmp_path / "agents" / "copilot.toml").exists()
