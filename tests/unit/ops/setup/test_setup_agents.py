import json
import stat
from pathlib import Path

import pytest

from termvisor.ops.api.services import LocalServices
from termvisor.settings import Paths
from termvisor.testing.operation_calls import run_command

SETTINGS = b'{"model": "opus",  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_bytes(SETTINGS)
    (tmp_path / ".claude/settings.json").chmod(0o600)
    return tmp_path


@pytest.fixture
def services(home: Path) -> LocalServices:
    return LocalServices(Paths(*(str(home / "visor" / name) for name in ("config", "data", "run"))))


async def test_nothing_is_changed_before_confirmation(services: LocalServices, home: Path) -> None:
    result = await run_command(services, "robot", "setup", "agents")
    error = result.envelope["error"]
    assert (result.status, error["code"]) == (2, "unconfirmed")
    assert f"+++ {home}/.claude/settings.json" in error["details"]["shown"]
    assert (home / ".claude/settings.json").read_bytes() == SETTINGS
    assert not (home / "visor").exists()


async def test_a_dry_run_shows_the_change_and_writes_nothing(services: LocalServices, home: Path) -> None:
    (item,) = (await run_command(services, "robot", "setup", "agents", "--dry-run")).envelope["data"]["items"]
    assert (item["outcome"], "tell claude_code Stop" in item["change"]) == ("foreseen", True)
    assert not (home / "visor").exists()


async def test_hooks_are_installed_once_and_removed_completely(services: LocalServices, home: Path) -> None:
    path = home / ".claude/settings.json"
    (made,) = (await run_command(services, "robot", "setup", "agents", "--yes")).envelope["data"]["items"]
    assert (made["agent"], made["outcome"], made["kept"]) == ("claude_code", "installed", f"{path}.before-visor")
    assert (Path(made["kept"]).read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (SETTINGS, 0o600)
    once = path.read_bytes()
    assert "unchanged" in (await run_command(services, "setup", "agents")).out
    assert path.read_bytes() == once
    (gone,) = (await run_command(services, "robot", "setup", "agents", "--remove", "-y")).envelope["data"]["items"]
    assert (gone["outcome"], gone["kept"], path.read_bytes()) == ("removed", None, SETTINGS)
    assert [child.name for child in (home / ".claude").iterdir()] == ["settings.json"]


async def test_later_user_changes_are_kept_on_removal(services: LocalServices, home: Path) -> None:
    path = home / ".claude/settings.json"
    await run_command(services, "setup", "agents", "--yes")
    path.write_bytes(path.read_bytes().replace(b"opus", b"sonnet"))
    (gone,) = (await run_command(services, "robot", "setup", "agents", "--remove", "-y")).envelope["data"]["items"]
    assert path.read_bytes() == SETTINGS.replace(b"opus", b"sonnet")
    assert gone["kept"] == f"{path}.before-visor"


async def test_an_invalid_json_file_stops_the_setup_before_any_write(services: LocalServices, home: Path) -> None:
    (home / ".gemini").mkdir()
    (home / ".gemini/settings.json").write_text("{ // mine\n}")
    result = await run_command(services, "robot", "setup", "agents", "--yes")
    assert (result.status, result.envelope["error"]["code"]) == (78, "config_error")
    assert "nothing was written" in result.envelope["error"]["message"]
    assert (home / ".claude/settings.json").read_bytes() == SETTINGS
    assert not (home / "visor").exists()
    assert (await run_command(services, "setup", "agents", "--agent", "claude_code", "--yes")).status == 0


async def test_a_project_has_hooks_of_its_own(
    services: LocalServices, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    await run_command(services, "setup", "agents", "--scope", "project", "--yes")
    local = tmp_path / "project/.claude/settings.local.json"
    assert "Stop" in json.loads(local.read_bytes())["hooks"]
    assert (home / ".claude/settings.json").read_bytes() == SETTINGS
    await run_command(services, "setup", "agents", "--scope", "project", "--remove", "--yes")
    assert not local.exists()


async def test_the_text_has_notes_and_skipped_agents(services: LocalServices, home: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".config/opencode").mkdir(parents=True)
    out = (await run_command(services, "setup", "agents", "--yes")).out
    assert "Hooks need review" in out
    assert "skipped" in out
    assert "npm install" in out
    assert not (home / ".config/opencode/plugin").exists()


async def test_a_read_only_file_is_left_alone(services: LocalServices, home: Path) -> None:
    (home / ".claude/settings.json").chmod(0o400)
    result = await run_command(services, "robot", "setup", "agents", "--yes")
    assert result.envelope["error"]["code"] == "unavailable"
    assert (home / ".claude/settings.json").read_bytes() == SETTINGS


async def test_without_installed_agents_it_is_reported(services: LocalServices, home: Path) -> None:
    (home / ".claude/settings.json").unlink()
    (home / ".claude").rmdir()
    lines = (await run_command(services, "setup", "agents")).out.splitlines()
    assert lines[0] == "No supported agent is installed: none is on the PATH or has its folder."
    assert lines[1].split() == ["claude_code", str(home / ".claude")]


async def test_a_status_line_is_installed_on_request_if_there_is_none(services: LocalServices, home: Path) -> None:
    path = home / ".claude/settings.json"
    await run_command(services, "setup", "agents", "--yes")
    assert "statusLine" not in json.loads(path.read_bytes())
    (made,) = (await run_command(services, "robot", "setup", "agents", "--status-line", "--yes")).envelope["data"][
        "items"
    ]
    assert (made["outcome"], made["note"]) == ("updated", "")
    assert "tell claude_code StatusLine $PPID" in json.loads(path.read_bytes())["statusLine"]["command"]
    (again,) = (await run_command(services, "robot", "setup", "agents", "--yes")).envelope["data"]["items"]
    assert again["outcome"] == "unchanged"
    await run_command(services, "setup", "agents", "--remove", "--yes")
    assert path.read_bytes() == SETTINGS


async def test_the_users_own_status_line_is_never_replaced(services: LocalServices, home: Path) -> None:
    path = home / ".claude/settings.json"
    own = SETTINGS.replace(b'"model"', b'"statusLine": {"type": "command", "command": "mine"}, "model"')
    path.write_bytes(own)
    (made,) = (await run_command(services, "robot", "setup", "agents", "--status-line", "--yes")).envelope["data"][
        "items"
    ]
    assert json.loads(path.read_bytes())["statusLine"]["command"] == "mine"
    assert made["note"].startswith("Your status line is kept.")
    assert made["note"].endswith("hook.sh tell claude_code StatusLine`.")
    await run_command(services, "setup", "agents", "--remove", "--yes")
    assert path.read_bytes() == own


async def test_the_mcp_server_is_registered_on_request_and_removed_completely(
    services: LocalServices, home: Path
) -> None:
    for folder in (".gemini", ".codex", ".copilot"):
        (home / folder).mkdir()
    both = home / ".gemini/settings.json"
    both.write_bytes(SETTINGS)
    (home / ".codex/config.toml").write_bytes(b'model = "x"')
    made = (await run_command(services, "robot", "setup", "agents", "--mcp", "--yes")).envelope["data"]["items"]
    registered = {item["agent"]: item["path"] for item in made if item["part"] == "mcp"}
    assert set(registered) == {"claude_code", "codex", "gemini", "copilot"}
    assert {item["outcome"] for item in made} == {"installed"}
    # Gemini has both in one file.
    assert json.loads(both.read_bytes()).keys() == {"model", "hooks", "mcpServers"}
    again = (await run_command(services, "robot", "setup", "agents", "--mcp", "--yes")).envelope["data"]["items"]
    assert {item["outcome"] for item in again} == {"unchanged"}
    await run_command(services, "robot", "setup", "agents", "--remove", "-y")
    assert (both.read_bytes(), (home / ".codex/config.toml").read_bytes()) == (SETTINGS, b'model = "x"')
    assert not (home / ".claude.json").exists()
    assert not (home / ".copilot/mcp-config.json").exists()


async def test_without_the_option_no_server_is_registered(services: LocalServices, home: Path) -> None:
    items = (await run_command(services, "robot", "setup", "agents", "--yes")).envelope["data"]["items"]
    assert {item["part"] for item in items} == {"hooks"}
    assert not (home / ".claude.json").exists()


async def test_a_file_of_servers_that_cannot_be_read_does_not_keep_hooks(services: LocalServices, home: Path) -> None:
    await run_command(services, "setup", "agents", "--yes")
    (home / ".claude.json").write_text("{")
    refused = await run_command(services, "robot", "setup", "agents", "--mcp", "--yes")
    assert refused.envelope["error"]["code"] == "config_error"
    gone = (await run_command(services, "robot", "setup", "agents", "--remove", "-y")).envelope["data"]["items"]
    assert [(item["part"], item["outcome"]) for item in gone] == [("hooks", "removed"), ("mcp", "unchanged")]
    assert (home / ".claude/settings.json").read_bytes() == SETTINGS
