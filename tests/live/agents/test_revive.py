"""Real agents that are killed or lose their pane or tmux: their sessions are resumed once."""

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
from tests.live.test_watching import has_exited, read_server_pid

pytestmark = pytest.mark.live

POLICY = 'unproven_prompt = true\n[[rule]]\nid = "free"\nanswer = "allow"\nwhen = { actor = ["robot", "workflow"] }\n'
POLICY += '[commands]\nunknown_effect = "allow"\n'
END_STATUSES = ("completed", "failed", "cancelled")
NAMES = {"claude": "claude_code", "codex": "codex"}
RESUME = {"claude": "--resume {session}", "codex": "resume {session}"}


class RestartableAgent:
    """One agent in a shell with prompt marks, which one script starts."""

    def __init__(self, multi_scene: MultiAgentScene, program: AgentProgram, folder: Path):
        self.multi_scene, self.program = multi_scene, program
        self._rc = folder / "rc"
        self._rc.write_text(f"{BASH}{BASH_MARKS}")
        self.script = str(folder / program.name)

    def start(self, words: str) -> ShellPane:
        tmux = self.multi_scene.scene.tmux
        pane = ShellPane(
            self.multi_scene.scene,
            tmux.start_session("work", f"bash --noprofile --rcfile {self._rc}", width=110, height=36),
        )
        pane.wait_for_prompt()
        pane.type(self.script)
        pane.wait_for_state("idle", seconds=60)
        pane.send_prompt(f"MODEL text {words}")
        wait_until(lambda: pane.screen.count(words) > 1, timeout_s=30)  # in the prompt and in the answer
        pane.wait_for_state("completed", "idle")
        wait_until(lambda: self.find_newest_session()["external_id"])
        return pane

    def find_newest_session(self) -> dict:
        """Return the newest session."""
        found = call_robot(self.multi_scene.scene.visor, "agents", "sessions", "--limit", "100")["items"]
        return found[-1] if found else {"external_id": ""}

    def list_end_reasons(self) -> list[str | None]:
        found = call_robot(self.multi_scene.scene.visor, "agents", "sessions", "--limit", "100")["items"]
        return [session["end_reason"] for session in found]

    def find_state(self, pane: int) -> str:
        rows = self.multi_scene.scene.list_panes()
        return next((row["state"] for row in rows if row["identity"]["id"] == pane), "")

    def list_runs(self, workflow: str) -> list[dict]:
        found = call_robot(self.multi_scene.scene.visor, "workflow", "status", "--all")["items"]
        return [run for run in found if run["workflow"] == workflow]


@contextmanager
def open_restartable_agent(program: AgentProgram, tmp_path: Path) -> Iterator[RestartableAgent]:
    script = tmp_path / program.name
    resume = f"{NAMES[program.name]} :: {shlex.quote(str(script))} {RESUME[program.name]}"
    modes = "restart_crashed=on,handle_session_end=on"
    with open_multi_agent_scene(VISOR_AGENT_RESUME=resume, VISOR_WORKFLOW_MODES=modes) as multi_scene:
        script.write_text(f'#!/bin/sh\n{program.build_command(multi_scene.prepare_folders("home", program))} "$@"\n')
        script.chmod(0o755)
        config = Path(multi_scene.scene.visor.paths.config_dir)
        config.mkdir(parents=True, exist_ok=True)
        (config / "policy.toml").write_text(POLICY)
        yield RestartableAgent(multi_scene, program, tmp_path)


@pytest.mark.parametrize("program", [CLAUDE, CODEX], ids=lambda program: program.name)
def test_a_killed_agent_is_restarted_and_an_agent_that_quits_is_not(program, tmp_path):
    with open_restartable_agent(program, tmp_path) as agent:
        pane = agent.start("remember me")
        session, pid = agent.find_newest_session(), pane.began_events[-1]["pid"]
        os.kill(pid, signal.SIGKILL)
        run = wait_until(
            lambda: [run for run in agent.list_runs("restart_crashed") if run["status"] in END_STATUSES], timeout_s=90
        )[0]
        reason = f"{NAMES[program.name]} is running again with session {session['external_id']}"
        assert (run["status"], run["why"].partition(", in pane")[0]) == ("completed", reason)
        resumed = agent.find_newest_session()
        assert (resumed["external_id"], resumed["ended_at"]) == (session["external_id"], None)
        assert agent.list_end_reasons() == ["error", None]
        new_pane = resumed["identity"]["id"]
        wait_until(lambda: [run for run in agent.list_runs("handle_session_end") if run["status"] in END_STATUSES])
        wait_until(lambda: agent.find_state(new_pane) in ("idle", "completed"))
        assert agent.multi_scene.scene.visor.call_robot("quit", str(new_pane))["why"] == "left"
        wait_until(lambda: agent.list_end_reasons() == ["error", "manual"])
        assert _list_planned(agent.multi_scene.scene.visor) == [], "its user left it"
        wait_until(
            lambda: len([run for run in agent.list_runs("handle_session_end") if run["status"] in END_STATUSES]) == 2
        )
        assert len(agent.list_runs("restart_crashed")) == 1


@pytest.mark.parametrize("program", [CLAUDE, CODEX], ids=lambda program: program.name)
def test_sessions_are_revived_once_after_a_closed_pane_and_a_killed_tmux(program, tmp_path):
    with open_restartable_agent(program, tmp_path) as agent:
        visor, tmux = agent.multi_scene.scene.visor, agent.multi_scene.scene.tmux
        first = agent.start("remember me").id
        number, name = str(agent.find_newest_session()["id"]), agent.find_newest_session()["external_id"]
        status, out, _ = visor.run("robot", "--full", "revive", number)
        assert (status, "already running in pane" in out) == (75, True)
        tmux("kill-session", "-t", "work")
        wait_until(lambda: agent.find_newest_session()["ended_at"])
        wait_until(lambda: first not in [item["identity"]["id"] for item in call_robot(visor, "state")["items"]])
        wait_until(lambda: agent.list_end_reasons() == ["pane_gone"])
        (item,) = visor.call_robot("revive", number)["items"]
        assert (item["status"], item["where"], item["external_id"]) == ("revived", "session", name)
        assert item["pane"] != first

        server = read_server_pid(tmux)
        tmux("kill-server")
        # tmux answers before it exits, and a client that connects in between fails.
        wait_until(lambda: has_exited(server))
        wait_until(lambda: all(item["ended_at"] for item in call_robot(visor, "agents", "sessions")["items"]))
        tmux.start_session("keep", "sleep 1000")
        wait_until(lambda: call_robot(visor, "state")["items"])
        wait_until(lambda: _list_planned(visor) == [("planned", "session")])
        assert visor.run("robot", "--full", "revive", "--all")[0] == 2
        (item,) = visor.call_robot("revive", "--all", "--yes", timeout=90)["items"]
        assert (item["status"], item["external_id"]) == ("revived", name)
        assert "work" in tmux("list-sessions")
        (item,) = visor.call_robot("revive", "--all", "--yes")["items"] or [{"status": "skipped"}]
        assert item["status"] == "skipped"


def _list_planned(visor) -> list[tuple[str, str]]:
    """Return the planned revivals; empty while the daemon has no server on the socket."""
    status, out, _ = visor.run("robot", "--full", "revive", "--all", "--dry-run")
    return [] if status else [(item["status"], item["where"]) for item in json.loads(out)["data"]["items"]]
