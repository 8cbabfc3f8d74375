"""A real Codex at its usage limit continues under another account: once, and only if configured."""

import json
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.live.agents.agent_programs import CODEX, AgentFolders
from tests.live.agents.multi_agent_scene import MultiAgentScene, ShellPane, open_multi_agent_scene
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot
from tests.live.shell_prompts import BASH, BASH_MARKS

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

POLICY = 'unproven_prompt = true\n[[rule]]\nid = "free"\nanswer = "allow"\nwhen = { actor = ["robot", "workflow"] }\n'
END_STATUSES = ("completed", "failed", "cancelled")
SECOND = "openai/second"


@dataclass
class CodexWithAccounts:
    """A shell with `codex` under the default account, and a second account."""

    multi_scene: MultiAgentScene
    place: AgentFolders
    pane: ShellPane

    def start(self) -> None:
        self.pane.type("codex")
        self.pane.wait_for_text("Ask Codex", 90)
        self.pane.wait_for_state("idle", seconds=60)

    def reach_limit(self) -> None:
        self.pane.send_prompt("MODEL text remember me")
        self.pane.wait_for_state("completed")
        wait_until(lambda: self.list_sessions()[-1]["external_id"])
        self.pane.send_prompt("MODEL limit 900")
        self.pane.wait_for_text("hit your usage limit")

    def wait_for_run(self, *statuses: str) -> dict:
        """Wait until the only run is in one of these statuses and return it."""
        try:
            wait_until(lambda: [run for run in self.list_runs() if run["status"] in statuses], timeout_s=120)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.describe()}") from None
        assert len(self.list_runs()) == 1, self.describe()
        return self.list_runs()[0]

    def describe(self) -> str:
        """Describe runs, steps and screen for a failure message."""
        steps = call_robot(self.multi_scene.scene.visor, "workflow", "history", "1")["steps"]
        lines = "\n".join(f"{one['kind']} {one['status']} {one['given']} {one['came']}"[:1500] for one in steps)
        return f"{self.list_runs()}\n{lines}\n{self.pane.screen}"

    def list_runs(self) -> list[dict]:
        found = call_robot(self.multi_scene.scene.visor, "workflow", "status", "--all")["items"]
        return [run for run in found if run["workflow"] == "handle_usage_limits"]

    def list_sessions(self) -> list[dict]:
        return call_robot(self.multi_scene.scene.visor, "agents", "sessions", "--limit", "100")["items"] or [
            {"external_id": ""}
        ]

    def list_environments(self) -> list[tuple[str, str]]:
        """Return account and folder of every running Codex that was started here."""
        return [
            _read_environment(one["pid"]) for one in self.pane.began_events if os.path.exists(f"/proc/{one['pid']}")
        ]

    def count_prompts(self, words: str) -> int:
        files = (self.place.home / ".codex/sessions").rglob("*.jsonl")
        lines = [line for file in files for line in file.read_text().splitlines()]
        return sum('"role":"user"' in line and f'"text":"{words}"' in line for line in lines)


def _read_environment(pid: int) -> tuple[str, str]:
    pairs = dict(one.split("=", 1) for one in Path(f"/proc/{pid}/environ").read_text().split("\0") if "=" in one)
    return pairs.get("VISOR_ACCOUNT", ""), pairs.get("CODEX_HOME", "")


@contextmanager
def open_codex(tmp_path: Path, profile: str, second: str) -> Iterator[CodexWithAccounts]:
    """``second`` is the table of the second account."""
    with open_multi_agent_scene(
        VISOR_WORKFLOW_MODES="handle_usage_limits=on", VISOR_FAILOVER_PROFILE=profile
    ) as multi_scene:
        visor, place = multi_scene.scene.visor, multi_scene.prepare_folders("home", CODEX)
        visor.env = {**visor.env, "HOME": str(place.home)}
        _create_profile(place, "second")
        config = Path(visor.paths.config_dir)
        config.mkdir(parents=True, exist_ok=True)
        (config / "policy.toml").write_text(POLICY)
        tables = [f'[[accounts]]\nservice = "openai"\nname = "{name}"\n' for name in ("first", "second")]
        (config / "config.toml").write_text("".join(tables) + second)
        config.chmod(0o700)
        visor.run_at_terminal("accounts use first", "is now attributed to")
        pane = ShellPane(
            multi_scene.scene,
            multi_scene.scene.tmux.start_session("work", _build_shell_command(place, tmp_path), width=110, height=36),
        )
        pane.wait_for_prompt()
        yield CodexWithAccounts(multi_scene, place, pane)


def _create_profile(place: AgentFolders, name: str) -> None:
    """Create another Codex folder with the same conversations."""
    default, other = place.home / ".codex", place.home / name
    other.mkdir()
    (default / "sessions").mkdir()
    (other / "sessions").symlink_to(default / "sessions")
    (other / "config.toml").write_text((default / "config.toml").read_text())


def _build_shell_command(place: AgentFolders, folder: Path) -> str:
    """Return the command of a shell with `codex` on its path and prompt marks."""
    program = place.folder / "bin" / "codex"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(str(CODEX.path))} "$@"\n')
    program.chmod(0o755)
    (folder / "rc").write_text(f"{BASH}{BASH_MARKS}")
    env = {
        "HOME": place.home,
        "TMPDIR": place.folder / "tmp",
        "PATH": f"{program.parent}:/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "SCRIPTED_KEY": "dummy",
    }
    assignments = " ".join(shlex.quote(f"{name}={value}") for name, value in env.items())
    return f"cd {shlex.quote(str(place.cwd))} && exec env {assignments} bash --noprofile --rcfile {folder / 'rc'}"


def test_a_conversation_continues_once_under_the_failover_profile(tmp_path: Path) -> None:
    with open_codex(tmp_path, "second", 'config_dir = "~/second"\n') as codex:
        codex.start()
        codex.reach_limit()
        session = codex.list_sessions()[-1]["external_id"]
        run = codex.wait_for_run(*END_STATUSES)
        assert (run["status"], run["why"]) == ("completed", f"the agent works again, as {SECOND}"), codex.describe()
        wait_until(lambda: codex.count_prompts("proceed."))
        codex.pane.wait_for_state("completed", "idle")
        assert codex.count_prompts("proceed.") == 1
        assert codex.list_sessions()[-1]["external_id"] == session
        assert codex.list_environments() == [(SECOND, str(codex.place.home / "second"))]
        assert len(codex.list_runs()) == 1


def test_without_a_failover_profile_the_run_only_pauses(tmp_path: Path) -> None:
    with open_codex(tmp_path, "", 'config_dir = "~/second"\n') as codex:
        codex.start()
        codex.reach_limit()
        run = codex.wait_for_run("paused")
        assert "account" not in run["plan"]
        assert codex.list_environments() == [("", "")]
        assert codex.count_prompts("proceed.") == 0


def test_a_failed_failover_start_is_reported_in_the_plan_and_the_pane(tmp_path: Path) -> None:
    with open_codex(tmp_path, "second", 'env_file = "~/second.env"\n') as codex:
        codex.start()
        codex.reach_limit()
        run = codex.wait_for_run("paused")
        why = f"account {SECOND}: cannot read {codex.place.home}/second.env"
        assert run["plan"].startswith(f"Trouble: it was started as {SECOND}: visor: {why}"), codex.describe()
        assert "By hand: cd" in run["plan"]
        assert "codex resume" in run["plan"]
        assert f"visor: {why}" in codex.pane.screen
        assert codex.count_prompts("proceed.") == 0


def test_a_window_with_a_failed_spawn_stays_open_with_the_reason(tmp_path: Path) -> None:
    with open_codex(tmp_path, "", 'env_file = "~/second.env"\n') as codex:
        visor, tmux = codex.multi_scene.scene.visor, codex.multi_scene.scene.tmux
        visor.call_robot("spawn", "--session", "work", "--account", "second", "--", "codex")
        pane_format = "#{pane_dead} #{session_name} #{pane_id}"
        rows = wait_until(
            lambda: [row for row in tmux("list-panes", "-a", "-F", pane_format).split("\n") if "1 work" in row]
        )
        dead = rows[0].split()[-1]
        assert f"visor: account {SECOND}: cannot read" in tmux("capture-pane", "-p", "-t", dead)


def test_a_failed_revive_keeps_its_window(tmp_path: Path) -> None:
    with open_codex(tmp_path, "", 'config_dir = "~/second"\n') as codex:
        visor, tmux = codex.multi_scene.scene.visor, codex.multi_scene.scene.tmux
        codex.start()
        codex.pane.send_prompt("MODEL text remember me")
        codex.pane.wait_for_state("completed")
        number = wait_until(lambda: [one for one in codex.list_sessions() if one["external_id"]])[-1]["id"]
        tmux("kill-session", "-t", "work")
        wait_until(lambda: codex.list_sessions()[-1]["ended_at"])
        wait_until(
            lambda: all(item["identity"]["session_name"] != "work" for item in visor.call_robot("state")["items"])
        )
        (codex.place.folder / "bin" / "codex").unlink()
        _, out, _ = visor.run("robot", "--full", "revive", str(number))
        (item,) = json.loads(out)["data"]["items"]
        assert (item["status"], "see its output in pane" in item["why"]) == ("failed", True)
        assert "not found" in visor.run_checked("get-screen", str(item["pane"]))
