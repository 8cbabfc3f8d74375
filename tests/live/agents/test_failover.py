"""A real Codex at the limit of its account goes on under another one: once, and only where a person said so."""

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
ENDED = ("completed", "failed", "cancelled")
SECOND = "openai/second"


@dataclass
class Desk:
    """A shell in which `codex` works under the usual account, and knows a second one."""

    room: MultiAgentScene
    place: AgentFolders
    seat: ShellPane

    def start(self) -> None:
        self.seat.type("codex")
        self.seat.wait_for_text("Ask Codex", 90)
        self.seat.wait_for_state("idle", seconds=60)

    def reaches_its_limit(self) -> None:
        self.seat.send_prompt("MODEL text remember me")
        self.seat.wait_for_state("completed")
        wait_until(lambda: self.sessions()[-1]["external_id"])
        self.seat.send_prompt("MODEL limit 900")
        self.seat.wait_for_text("hit your usage limit")

    def run(self, *statuses: str) -> dict:
        """The only run, once it is in one of these."""
        try:
            wait_until(lambda: [run for run in self.runs() if run["status"] in statuses], timeout_s=120)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.story()}") from None
        assert len(self.runs()) == 1, self.story()
        return self.runs()[0]

    def story(self) -> str:
        """For a person who wants to know why not."""
        steps = call_robot(self.room.scene.visor, "workflow", "history", "1")["steps"]
        told = "\n".join(f"{one['kind']} {one['status']} {one['given']} {one['came']}"[:1500] for one in steps)
        return f"{self.runs()}\n{told}\n{self.seat.screen}"

    def runs(self) -> list[dict]:
        found = call_robot(self.room.scene.visor, "workflow", "status", "--all")["items"]
        return [run for run in found if run["workflow"] == "handle_usage_limits"]

    def sessions(self) -> list[dict]:
        return call_robot(self.room.scene.visor, "agents", "sessions", "--limit", "100")["items"] or [
            {"external_id": ""}
        ]

    def environments(self) -> list[tuple[str, str]]:
        """Of every Codex that began here: the account and the folder that it was started with, while it lives."""
        return [_environment(one["pid"]) for one in self.seat.began_events if os.path.exists(f"/proc/{one['pid']}")]

    def said(self, words: str) -> int:
        files = (self.place.home / ".codex/sessions").rglob("*.jsonl")
        lines = [line for file in files for line in file.read_text().splitlines()]
        return sum('"role":"user"' in line and f'"text":"{words}"' in line for line in lines)


def _environment(pid: int) -> tuple[str, str]:
    pairs = dict(one.split("=", 1) for one in Path(f"/proc/{pid}/environ").read_text().split("\0") if "=" in one)
    return pairs.get("VISOR_ACCOUNT", ""), pairs.get("CODEX_HOME", "")


@contextmanager
def desk(tmp_path: Path, profile: str, second: str) -> Iterator[Desk]:
    """``second`` is the table of the second account."""
    with open_multi_agent_scene(VISOR_WORKFLOW_MODES="handle_usage_limits=on", VISOR_FAILOVER_PROFILE=profile) as own:
        visor, place = own.scene.visor, own.prepare_folders("home", CODEX)
        visor.env = {**visor.env, "HOME": str(place.home)}
        _profile(place, "second")
        config = Path(visor.paths.config_dir)
        config.mkdir(parents=True, exist_ok=True)
        (config / "policy.toml").write_text(POLICY)
        tables = [f'[[accounts]]\nservice = "openai"\nname = "{name}"\n' for name in ("first", "second")]
        (config / "config.toml").write_text("".join(tables) + second)
        config.chmod(0o700)
        visor.run_checked("accounts", "use", "first")
        seat = ShellPane(own.scene, own.scene.tmux.start_session("work", _shell(place, tmp_path), width=110, height=36))
        seat.wait_for_prompt()
        yield Desk(own, place, seat)


def _profile(place: AgentFolders, name: str) -> None:
    """Another folder of Codex, with the same conversations."""
    usual, other = place.home / ".codex", place.home / name
    other.mkdir()
    (usual / "sessions").mkdir()
    (other / "sessions").symlink_to(usual / "sessions")
    (other / "config.toml").write_text((usual / "config.toml").read_text())


def _shell(place: AgentFolders, folder: Path) -> str:
    """At home with `codex` in its path, and telling its prompts."""
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
    given = " ".join(shlex.quote(f"{name}={value}") for name, value in env.items())
    return f"cd {shlex.quote(str(place.cwd))} && exec env {given} bash --noprofile --rcfile {folder / 'rc'}"


def test_a_conversation_goes_on_under_the_other_profile_once(tmp_path: Path) -> None:
    with desk(tmp_path, "second", 'config_dir = "~/second"\n') as codex:
        codex.start()
        codex.reaches_its_limit()
        session = codex.sessions()[-1]["external_id"]
        run = codex.run(*ENDED)
        assert (run["status"], run["why"]) == ("completed", f"the agent works again, as {SECOND}"), codex.story()
        wait_until(lambda: codex.said("proceed."))
        codex.seat.wait_for_state("completed", "idle")
        assert codex.said("proceed.") == 1
        assert codex.sessions()[-1]["external_id"] == session
        assert codex.environments() == [(SECOND, str(codex.place.home / "second"))]
        assert len(codex.runs()) == 1


def test_without_a_profile_that_a_person_has_set_nobody_is_moved(tmp_path: Path) -> None:
    with desk(tmp_path, "", 'config_dir = "~/second"\n') as codex:
        codex.start()
        codex.reaches_its_limit()
        run = codex.run("paused")
        assert "account" not in run["plan"]
        assert codex.environments() == [("", "")]
        assert codex.said("proceed.") == 0


def test_a_start_that_fails_is_told_in_the_plan_and_in_the_pane(tmp_path: Path) -> None:
    with desk(tmp_path, "second", 'env_file = "~/second.env"\n') as codex:
        codex.start()
        codex.reaches_its_limit()
        run = codex.run("paused")
        why = f"account {SECOND}: cannot read {codex.place.home}/second.env"
        assert run["plan"].startswith(f"Trouble: it was started as {SECOND}: visor: {why}"), codex.story()
        assert "By hand: cd" in run["plan"]
        assert "codex resume" in run["plan"]
        assert f"visor: {why}" in codex.seat.screen
        assert codex.said("proceed.") == 0


def test_a_window_in_which_a_start_fails_stays_with_the_reason(tmp_path: Path) -> None:
    with desk(tmp_path, "", 'env_file = "~/second.env"\n') as codex:
        visor, tmux = codex.room.scene.visor, codex.room.scene.tmux
        visor.call_robot("spawn", "--session", "work", "--account", "second", "--", "codex")
        form = "#{pane_dead} #{session_name} #{pane_id}"
        rows = wait_until(lambda: [row for row in tmux("list-panes", "-a", "-F", form).split("\n") if "1 work" in row])
        dead = rows[0].split()[-1]
        assert f"visor: account {SECOND}: cannot read" in tmux("capture-pane", "-p", "-t", dead)


def test_a_conversation_that_cannot_be_taken_up_leaves_its_window_behind(tmp_path: Path) -> None:
    with desk(tmp_path, "", 'config_dir = "~/second"\n') as codex:
        visor, tmux = codex.room.scene.visor, codex.room.scene.tmux
        codex.start()
        codex.seat.send_prompt("MODEL text remember me")
        codex.seat.wait_for_state("completed")
        number = wait_until(lambda: [one for one in codex.sessions() if one["external_id"]])[-1]["id"]
        tmux("kill-session", "-t", "work")
        wait_until(lambda: codex.sessions()[-1]["ended_at"])
        (codex.place.folder / "bin" / "codex").unlink()
        _, out, _ = visor.run("robot", "revive", str(number))
        (item,) = json.loads(out)["data"]["items"]
        assert (item["status"], "see its output in pane" in item["why"]) == ("failed", True)
        assert "not found" in visor.run_checked("get-screen", str(item["pane"]))
