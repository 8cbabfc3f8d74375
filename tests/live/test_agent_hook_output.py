"""A hook event of an agent, from the spool to every command that shows it."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, Popen

import msgspec
import pytest

from tests.live.conftest import WatchedTmux, run_watched_tmux
from tests.live.polling import wait_until

PAYLOAD = {
    "hook_event_name": "PermissionRequest",
    "session_id": "5e55",
    "tool_name": "Bash",
    "tool_input": {"command": "rm -rf build"},
}


class FakeClaude:
    """A program named `claude` that only reports through its hook."""

    def __init__(self, scene: WatchedTmux, folder: str):
        self.scene, self.visor = scene, scene.visor
        program = shutil.copy(shutil.which("sleep") or "sleep", f"{folder}/claude")
        self.mux_pane = scene.tmux.start_session("agents", f"exec {program} 1000")
        self.pane = str(scene.wait_until_captured(self.mux_pane))
        wait_until(lambda: self.state)

    @property
    def state(self) -> str | None:
        return self.visor.call_robot("state", "--pane", self.pane)["items"][0]["state"]

    def ask_for_permission(self) -> None:
        pid = int(self.scene.tmux("display-message", "-p", "-t", self.mux_pane, "#{pane_pid}"))
        server = self.scene.tmux("display-message", "-p", "-t", self.mux_pane, "#{socket_path},#{pid},0").strip()
        record = {"v": 1, "agent": "claude_code", "event": "PermissionRequest", "at": 0, "pane": self.mux_pane}
        line = msgspec.json.encode(record | {"tmux": server, "pid": pid, "payload": PAYLOAD})
        with open(f"{self.visor.paths.data_dir}/spool/hooks.jsonl", "ab") as spool:
            spool.write(line + b"\n")


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[FakeClaude]:
    with run_watched_tmux() as scene:
        yield FakeClaude(scene, str(tmp_path))


def test_a_permission_request_is_pushed_counted_explained_and_listed(agent: FakeClaude) -> None:
    with Popen(
        [sys.executable, "-m", "termvisor", "watch", "--format", "jsonl", "--full"], env=agent.visor.env, stdout=PIPE
    ) as watch:
        assert watch.stdout is not None
        lines = iter(watch.stdout)
        assert msgspec.json.decode(next(lines))["after"] == "unknown"
        agent.ask_for_permission()
        changes = (change for line in lines if (change := msgspec.json.decode(line))["kind"] == "state_changed")
        change = next(one for one in changes if one["after"] == "waiting_approval")
        watch.terminate()
    assert (str(change["pane"]), change["before"], change["agent"]["source"]) == (agent.pane, "unknown", "hook")
    assert agent.visor.call_robot("wait-for", agent.pane, "--state", "waiting")["outcome"] == "state"
    assert agent.visor.call_robot("status")["summary"]["by_state"] == {"waiting_approval": 1}
    assert agent.visor.call_robot("explain", agent.pane)["evidence"]["payload"]["command"] == "rm -rf build"
    assert agent.visor.run_checked("next", "-q") == f"{agent.pane}\n"
    assert agent.visor.run_checked("tmux-status", "{waiting} of {agents}") == "1 of 1\n"
    assert "! waiting approval" in agent.visor.run_checked("up", "--once")


def test_next_go_attaches_to_the_waiting_agent_and_is_audited(agent: FakeClaude) -> None:
    tmux = agent.scene.tmux
    agent.ask_for_permission()
    wait_until(lambda: agent.state == "waiting_approval")
    words = " ".join(f"{name}={value}" for name, value in agent.visor.env.items() if name.startswith("VISOR_"))
    home_pane = tmux.start_session("home", "exec bash --noprofile --norc -i")
    client_pane = tmux.start_session("person", f"exec env -u TMUX tmux -S {tmux.socket} attach-session -t home")
    try:
        wait_until(lambda: "home" in tmux("list-clients", "-F", "#{client_session}").split())
        path = os.pathsep.join(sys.path)
        tmux.type_line(home_pane, f"PYTHONPATH='{path}' {words} {sys.executable} -m termvisor next --go")
        wait_until(lambda: "agents" in tmux("list-clients", "-F", "#{client_session}").split())
    finally:
        tmux("kill-pane", "-t", client_pane)
    (done,) = agent.visor.call_robot("audit", "--kind", "attach", "--outcome", "done")["items"]
    assert (str(done["pane"]), done["by"].split()[0]) == (agent.pane, "human")
