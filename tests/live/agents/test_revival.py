"""The real agents are killed, their panes closed, their tmux ended: their conversations come back, each once."""

import json
import os
import shlex
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.live.agents.agent_programs import CLAUDE, CODEX, AgentProgram
from tests.live.agents.multi_agent_scene import MultiAgentScene, ShellPane, open_multi_agent_scene
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot
from tests.live.shell_prompts import BASH, BASH_MARKS

pytestmark = pytest.mark.live

POLICY = 'unproven_prompt = true\n[[rule]]\nid = "free"\nanswer = "allow"\nwhen = { actor = ["robot", "workflow"] }\n'
ENDED = ("completed", "failed", "cancelled")
NAMES = {"claude": "claude_code", "codex": "codex"}
RESUME = {"claude": "--resume {session}", "codex": "resume {session}"}


class Stall:
    """One agent at work in a shell that tells its prompts, and can be started by one word."""

    def __init__(self, own: MultiAgentScene, program: AgentProgram, folder: Path):
        self.room, self.program = own, program
        self._rc = folder / "rc"
        self._rc.write_text(f"{BASH}{BASH_MARKS}")
        self.word = str(folder / program.name)

    def start(self, words: str) -> ShellPane:
        tmux = self.room.scene.tmux
        seat = ShellPane(
            self.room.scene, tmux.start_session("work", f"bash --noprofile --rcfile {self._rc}", width=110, height=36)
        )
        seat.wait_for_prompt()
        seat.type(self.word)
        seat.wait_for_state("idle", seconds=60)
        seat.send_prompt(f"MODEL text {words}")
        wait_until(lambda: seat.screen.count(words) > 1, timeout_s=30)  # said, and answered
        seat.wait_for_state("completed", "idle")
        wait_until(lambda: self.session()["external_id"])
        return seat

    def session(self) -> dict:
        """The newest one."""
        found = call_robot(self.room.scene.visor, "agents", "sessions", "--limit", "100")["items"]
        return found[-1] if found else {"external_id": ""}

    def state(self, pane: int) -> str:
        rows = self.room.scene.list_panes()
        return next((row["state"] for row in rows if row["identity"]["id"] == pane), "")

    def runs(self, workflow: str) -> list[dict]:
        found = call_robot(self.room.scene.visor, "workflow", "status", "--all")["items"]
        return [run for run in found if run["workflow"] == workflow]


@contextmanager
def stall(program: AgentProgram, tmp_path: Path) -> Iterator[Stall]:
    word = tmp_path / program.name
    resume = f"{NAMES[program.name]} :: {shlex.quote(str(word))} {RESUME[program.name]}"
    modes = "restart_crashed=on,handle_session_end=on"
    with open_multi_agent_scene(VISOR_AGENT_RESUME=resume, VISOR_WORKFLOW_MODES=modes) as own:
        word.write_text(f'#!/bin/sh\n{program.build_command(own.prepare_folders("home", program))} "$@"\n')
        word.chmod(0o755)
        config = Path(own.scene.visor.paths.config_dir)
        config.mkdir(parents=True, exist_ok=True)
        (config / "policy.toml").write_text(POLICY)
        yield Stall(own, program, tmp_path)


@pytest.mark.parametrize("program", [CLAUDE, CODEX], ids=lambda one: one.name)
def test_an_agent_that_is_killed_comes_back_in_its_pane_and_one_that_leaves_does_not(program, tmp_path):
    with stall(program, tmp_path) as one:
        seat = one.start("remember me")
        session, pid = one.session(), seat.began_events[-1]["pid"]
        os.kill(pid, signal.SIGKILL)
        run = wait_until(lambda: [run for run in one.runs("restart_crashed") if run["status"] in ENDED], timeout_s=90)[
            0
        ]
        known = f"{NAMES[program.name]} is running again with session {session['external_id']}"
        assert (run["status"], run["why"].partition(", in pane")[0]) == ("completed", known)
        now = one.session()
        assert (now["external_id"], now["ended_at"]) == (session["external_id"], None)
        back = now["identity"]["id"]
        wait_until(lambda: [run for run in one.runs("handle_session_end") if run["status"] in ENDED])
        wait_until(lambda: one.state(back) in ("idle", "completed"))
        assert one.room.scene.visor.call_robot("quit", str(back))["why"] == "left"
        wait_until(lambda: one.session()["ended_at"])
        wait_until(lambda: len([run for run in one.runs("handle_session_end") if run["status"] in ENDED]) == 2)
        assert len(one.runs("restart_crashed")) == 1


@pytest.mark.parametrize("program", [CLAUDE, CODEX], ids=lambda one: one.name)
def test_a_session_is_revived_once_and_all_of_them_after_their_tmux_is_gone(program, tmp_path):
    with stall(program, tmp_path) as one:
        visor, tmux = one.room.scene.visor, one.room.scene.tmux
        first = one.start("remember me").id
        number, name = str(one.session()["id"]), one.session()["external_id"]
        status, out, _ = visor.run("robot", "revive", number)
        assert (status, "already running in pane" in out) == (75, True)
        tmux("kill-session", "-t", "work")
        wait_until(lambda: one.session()["ended_at"])
        (item,) = visor.call_robot("revive", number)["items"]
        assert (item["status"], item["where"], item["external_id"]) == ("revived", "session", name)
        assert item["pane"] != first

        tmux("kill-server")
        wait_until(lambda: all(item["ended_at"] for item in call_robot(visor, "agents", "sessions")["items"]))
        tmux.start_session("keep", "sleep 1000")
        wait_until(lambda: call_robot(visor, "state")["items"])
        wait_until(lambda: _plan(visor) == [("planned", "session")])
        assert visor.run("robot", "revive", "--all")[0] == 2
        (item,) = visor.call_robot("revive", "--all", "--yes", timeout=90)["items"]
        assert (item["status"], item["external_id"]) == ("revived", name)
        assert "work" in tmux("list-sessions")
        (item,) = visor.call_robot("revive", "--all", "--yes")["items"] or [{"status": "skipped"}]
        assert item["status"] == "skipped"


def _plan(visor) -> list[tuple[str, str]]:
    """Empty while the daemon is between two servers of one socket."""
    status, out, _ = visor.run("robot", "revive", "--all", "--dry-run")
    return [] if status else [(item["status"], item["where"]) for item in json.loads(out)["data"]["items"]]
