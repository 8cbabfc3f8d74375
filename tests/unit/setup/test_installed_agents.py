from pathlib import Path

import pytest

from termvisor.settings import Paths
from termvisor.setup import hook_script
from termvisor.setup.agent_settings import add_hooks, build_settings_file
from termvisor.setup.installed_agents import inspect_installed_hooks, list_installed_agents


@pytest.fixture
def places(tmp_path: Path) -> Paths:
    return Paths(*(str(tmp_path / name) for name in ("config", "data", "run")))


def test_an_agent_is_installed_by_its_program_or_by_its_folder(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "gemini"
    program.touch(0o755)
    (tmp_path / ".codex").mkdir()
    assert list_installed_agents({"HOME": str(tmp_path), "PATH": str(tmp_path / "bin")}) == ["codex", "gemini"]
    assert list_installed_agents({"HOME": str(tmp_path), "PATH": ""}) == ["codex"]


def test_what_is_missing_changed_broken_or_gone_is_found(tmp_path: Path, places: Paths) -> None:
    environ = {"HOME": str(tmp_path), "PATH": ""}
    for name in (".claude", ".codex", ".gemini", ".copilot/hooks", ".config/opencode"):
        (tmp_path / name).mkdir(parents=True)
    claude, codex = (build_settings_file(agent, places, environ) for agent in ("claude_code", "codex"))
    Path(claude.path).write_bytes(add_hooks(claude, None))
    Path(codex.path).write_bytes(add_hooks(codex, None).replace(b"Stop", b"Stopp"))
    (tmp_path / ".gemini/settings.json").write_text("{")
    found = inspect_installed_hooks(places, environ)
    assert [(one.agent, one.state) for one in found.files] == [
        ("claude_code", "current"),
        ("codex", "changed"),
        ("gemini", "unreadable"),
        ("copilot", "absent"),
    ]
    assert found.script_problem.endswith("is missing")
    hook_script.install(places)
    assert inspect_installed_hooks(places, environ).script_problem == ""
    Path(places.hook_file).write_text("other")
    assert inspect_installed_hooks(places, environ).script_problem.endswith("was changed")


def test_a_file_that_cannot_be_read_is_reported(tmp_path: Path, places: Paths) -> None:
    (tmp_path / ".claude/settings.json").mkdir(parents=True)
    (found,) = inspect_installed_hooks(places, {"HOME": str(tmp_path), "PATH": ""}).files
    assert (found.state, "cannot read" in found.detail) == ("unreadable", True)
