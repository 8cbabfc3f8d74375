import json
import stat
from pathlib import Path

import pytest

from termvisor.ops.api.local_services import LocalServices
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
def world(home: Path) -> LocalServices:
    return LocalServices(Paths(*(str(home / "visor" / name) for name in ("config", "data", "run"))))


async def test_nothing_is_done_before_the_change_was_seen(world: LocalServices, home: Path) -> None:
    answered = await run_command(world, "robot", "setup", "agents")
    error = answered.envelope["error"]
    assert (answered.status, error["code"]) == (2, "unconfirmed")
    assert f"+++ {home}/.claude/settings.json" in error["details"]["shown"]
    assert (home / ".claude/settings.json").read_bytes() == SETTINGS
    assert not (home / "visor").exists()


async def test_a_dry_run_shows_the_change_and_does_nothing(world: LocalServices, home: Path) -> None:
    (item,) = (await run_command(world, "robot", "setup", "agents", "--dry-run")).envelope["data"]["items"]
    assert (item["outcome"], "tell claude_code Stop" in item["change"]) == ("foreseen", True)
    assert not (home / "visor").exists()


async def test_hooks_are_set_up_once_and_taken_out_without_a_trace(world: LocalServices, home: Path) -> None:
    path = home / ".claude/settings.json"
    (made,) = (await run_command(world, "robot", "setup", "agents", "--yes")).envelope["data"]["items"]
    assert (made["agent"], made["outcome"], made["kept"]) == ("claude_code", "installed", f"{path}.before-visor")
    assert (Path(made["kept"]).read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (SETTINGS, 0o600)
    once = path.read_bytes()
    assert "nothing to do" in (await run_command(world, "setup", "agents")).out
    assert path.read_bytes() == once
    (gone,) = (await run_command(world, "robot", "setup", "agents", "--remove", "-y")).envelope["data"]["items"]
    assert (gone["outcome"], gone["kept"], path.read_bytes()) == ("removed", None, SETTINGS)
    assert [child.name for child in (home / ".claude").iterdir()] == ["settings.json"]


async def test_what_was_changed_since_stays(world: LocalServices, home: Path) -> None:
    path = home / ".claude/settings.json"
    await run_command(world, "setup", "agents", "--yes")
    path.write_bytes(path.read_bytes().replace(b"opus", b"sonnet"))
    (gone,) = (await run_command(world, "robot", "setup", "agents", "--remove", "-y")).envelope["data"]["items"]
    assert path.read_bytes() == SETTINGS.replace(b"opus", b"sonnet")
    assert gone["kept"] == f"{path}.before-visor"


async def test_a_file_that_is_no_json_stops_everything_before_anything_is_written(
    world: LocalServices, home: Path
) -> None:
    (home / ".gemini").mkdir()
    (home / ".gemini/settings.json").write_text("{ // mine\n}")
    answered = await run_command(world, "robot", "setup", "agents", "--yes")
    assert (answered.status, answered.envelope["error"]["code"]) == (78, "config_error")
    assert "nothing was written" in answered.envelope["error"]["message"]
    assert (home / ".claude/settings.json").read_bytes() == SETTINGS
    assert not (home / "visor").exists()
    assert (await run_command(world, "setup", "agents", "--agent", "claude_code", "--yes")).status == 0


async def test_a_project_has_hooks_of_its_own(
    world: LocalServices, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    await run_command(world, "setup", "agents", "--scope", "project", "--yes")
    local = tmp_path / "project/.claude/settings.local.json"
    assert "Stop" in json.loads(local.read_bytes())["hooks"]
    assert (home / ".claude/settings.json").read_bytes() == SETTINGS
    await run_command(world, "setup", "agents", "--scope", "project", "--remove", "--yes")
    assert not local.exists()


async def test_people_are_told_what_to_do_next_and_what_was_left_alone(world: LocalServices, home: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".config/opencode").mkdir(parents=True)
    said = (await run_command(world, "setup", "agents", "--yes")).out
    assert "Hooks need review" in said
    assert "left alone" in said
    assert "npm install" in said
    assert not (home / ".config/opencode/plugin").exists()


async def test_a_read_only_file_is_left_alone(world: LocalServices, home: Path) -> None:
    (home / ".claude/settings.json").chmod(0o400)
    answered = await run_command(world, "robot", "setup", "agents", "--yes")
    assert answered.envelope["error"]["code"] == "unavailable"
    assert (home / ".claude/settings.json").read_bytes() == SETTINGS


async def test_where_no_agent_is_installed_that_is_said(world: LocalServices, home: Path) -> None:
    (home / ".claude/settings.json").unlink()
    (home / ".claude").rmdir()
    assert (await run_command(world, "setup", "agents")).out == "No agent that we know is installed here.\n"


async def test_a_status_line_is_set_up_where_it_is_asked_for_and_there_is_none(
    world: LocalServices, home: Path
) -> None:
    path = home / ".claude/settings.json"
    await run_command(world, "setup", "agents", "--yes")
    assert "statusLine" not in json.loads(path.read_bytes())
    (made,) = (await run_command(world, "robot", "setup", "agents", "--status-line", "--yes")).envelope["data"]["items"]
    assert (made["outcome"], made["note"]) == ("updated", "")
    assert "tell claude_code StatusLine $PPID" in json.loads(path.read_bytes())["statusLine"]["command"]
    (again,) = (await run_command(world, "robot", "setup", "agents", "--yes")).envelope["data"]["items"]
    assert again["outcome"] == "unchanged"
    await run_command(world, "setup", "agents", "--remove", "--yes")
    assert path.read_bytes() == SETTINGS


async def test_a_status_line_of_ones_own_is_never_replaced(world: LocalServices, home: Path) -> None:
    path = home / ".claude/settings.json"
    own = SETTINGS.replace(b'"model"', b'"statusLine": {"type": "command", "command": "mine"}, "model"')
    path.write_bytes(own)
    (made,) = (await run_command(world, "robot", "setup", "agents", "--status-line", "--yes")).envelope["data"]["items"]
    assert json.loads(path.read_bytes())["statusLine"]["command"] == "mine"
    assert made["note"].startswith("Your own status line is left alone.")
    assert made["note"].endswith("hook.sh tell claude_code StatusLine`.")
    await run_command(world, "setup", "agents", "--remove", "--yes")
    assert path.read_bytes() == own
