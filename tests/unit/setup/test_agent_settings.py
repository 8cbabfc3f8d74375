"""Adding and removing hooks in agents' settings; the invariants are tested in tests/property."""

import json
from pathlib import Path

import pytest

from termvisor.errors import ConfigError
from termvisor.model.agent.hooks import HOOK_EVENTS_BY_AGENT, HookedAgent
from termvisor.settings import Paths
from termvisor.setup import hook_script
from termvisor.setup.agent_settings import (
    add_hooks,
    build_settings_file,
    get_settings_path,
    inspect_hooks,
    inspect_installed_hooks,
    list_installed_agents,
    remove_hooks,
)

PLACES = Paths("/home/you/.config/visor", "/home/you/it's here/visor", "/run/user/7/visor")
HOME = {"HOME": "/home/you"}


@pytest.mark.parametrize(
    ("agent", "path", "project"),
    [
        ("claude_code", "/home/you/.claude/settings.json", "/src/.claude/settings.local.json"),
        ("codex", "/home/you/.codex/hooks.json", "/src/.codex/hooks.json"),
        ("gemini", "/home/you/.gemini/settings.json", "/src/.gemini/settings.json"),
        ("copilot", "/home/you/.copilot/hooks/termvisor.json", "/src/.github/hooks/termvisor.json"),
        ("opencode", "/home/you/.config/opencode/plugin/termvisor.js", "/src/.opencode/plugin/termvisor.js"),
    ],
)
def test_every_agent_has_its_file(agent: HookedAgent, path: str, project: str) -> None:
    assert (get_settings_path(agent, HOME), get_settings_path(agent, HOME, "/src")) == (path, project)


def test_an_agent_with_a_moved_config_folder_is_found() -> None:
    moved = {**HOME, "CLAUDE_CONFIG_DIR": "/claude", "CODEX_HOME": "/codex", "XDG_CONFIG_HOME": "/etc/you"}
    assert get_settings_path("claude_code", moved) == "/claude/settings.json"
    assert get_settings_path("codex", moved) == "/codex/hooks.json"
    assert get_settings_path("opencode", moved) == "/etc/you/opencode/plugin/termvisor.js"


def test_a_hook_command_runs_the_script_and_always_succeeds() -> None:
    hooks = json.loads(add_hooks(build_settings_file("claude_code", PLACES, HOME), None))["hooks"]
    command = hooks["Stop"][0]["hooks"][0]["command"]
    assert command == (
        "sh '/home/you/it'\"'\"'s here/visor/hook.sh' tell claude_code Stop $PPID 2>/dev/null || : # visor setup agents"
    )
    asks = hooks["PermissionRequest"][1]["hooks"][0]
    assert (" ask claude_code " in asks["command"], asks["timeout"]) == (True, 600)


def test_each_agent_gets_its_own_shape() -> None:
    gemini = json.loads(add_hooks(build_settings_file("gemini", PLACES, HOME), b'{"theme": "dark"}'))
    assert gemini["hooks"]["AfterAgent"][0]["matcher"] == "*"
    assert gemini["hooks"]["AfterAgent"][0]["hooks"][0]["timeout"] == 3000
    copilot = json.loads(add_hooks(build_settings_file("copilot", PLACES, HOME), None))
    assert copilot["version"] == 1
    assert copilot["hooks"]["agentStop"][0].keys() == {"type", "bash", "timeoutSec"}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"{ // note\n}", "not valid JSON"),
        (b"\xff{}", "not valid JSON"),
        (b"[]", "not a JSON object"),
        (b'{"hooks": []}', "hooks is not an object"),
        (b'{"hooks": {"Stop": {}}}', "hooks.Stop is not a list"),
    ],
)
def test_an_unusable_settings_file_is_rejected(data: bytes, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        add_hooks(build_settings_file("claude_code", PLACES, HOME), data)


def test_changed_and_unreadable_hooks_are_reported() -> None:
    file = build_settings_file("codex", PLACES, HOME)
    once = add_hooks(file, None)
    assert inspect_hooks(file, None).state == "absent"
    assert inspect_hooks(file, once.replace(b"tell codex Stop", b"tell codex Stopped")).state == "changed"
    assert inspect_hooks(file, b"{").state == "unreadable"


def test_only_the_visor_plugin_file_is_removed(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    (tmp_path / ".config/opencode/node_modules/@opencode-ai/plugin").mkdir(parents=True)
    file = build_settings_file("opencode", PLACES, environ)
    made = add_hooks(file, None)
    assert b'"/home/you/it\'s here/visor/spool/hooks.jsonl"' in made
    assert (inspect_hooks(file, made).state, inspect_hooks(file, made + b"//").state) == ("current", "changed")
    assert remove_hooks(file, made, None) is None
    assert remove_hooks(file, b"theirs", None) == b"theirs"


def test_opencode_is_skipped_unless_its_plugin_folder_is_in_use(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    assert "npm install --prefix" in build_settings_file("opencode", PLACES, environ).skip_reason
    (tmp_path / ".config/opencode/plugin").mkdir(parents=True)
    assert build_settings_file("opencode", PLACES, environ).skip_reason
    (tmp_path / ".config/opencode/plugin/theirs.js").touch()
    assert build_settings_file("opencode", PLACES, environ).skip_reason == ""


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


def test_missing_changed_and_unreadable_hooks_are_found(tmp_path: Path, places: Paths) -> None:
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


@pytest.mark.parametrize(
    ("version", "missing"),
    [
        ("2.0.55", {"PostToolUseFailure", "PermissionDenied", "StopFailure", "PostCompact"}),
        ("2.0.76", {"PermissionDenied", "StopFailure", "PostCompact"}),
        ("2.1.112", set()),
        ("", set()),
    ],
)
def test_an_older_version_gets_no_hooks_for_which_it_rejects_the_file(tmp_path, version, missing):
    package = tmp_path / "node_modules/@anthropic-ai/claude-code"
    package.mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"name": "@anthropic-ai/claude-code", "version": version}))
    program = package / "cli.js"
    program.write_text("#!/usr/bin/env node\n")
    program.chmod(0o755)
    (tmp_path / "claude").symlink_to(program)
    file = build_settings_file("claude_code", PLACES, {**HOME, "PATH": str(tmp_path)})
    accepted = json.loads(add_hooks(file, None))["hooks"]
    assert {*HOOK_EVENTS_BY_AGENT["claude_code"].events} - {*accepted} == missing
