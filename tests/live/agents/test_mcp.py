"""Real agents that call tools of `visor mcp` from their panes, registered by `visor setup agents --mcp`."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import VisorInstance, run_instance
from tests.live.agents.agent_programs import CLAUDE, CODEX, AgentFolders, AgentProgram
from tests.live.agents.codex_home import CodexPane
from tests.live.agents.model.server import ModelServer, open_model_server
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot
from tests.pattern_cache import install_pattern_cache

pytestmark = pytest.mark.live


class AgentWithTools:
    """An agent in one pane, a shell in another, and the requests of the agent's model."""

    def __init__(self, visor: VisorInstance, agent: CodexPane, model: ModelServer, shell: str):
        self.visor, self.agent, self._model, self._shell = visor, agent, model, shell

    def ask_model(self, prompt: str) -> str:
        """Send a prompt that makes the model call a tool; return what the model was told next."""
        before = len(self._model.exchanges)
        self.agent.send_prompt(prompt)
        wait_until(lambda: len(self._model.exchanges) >= before + 2, timeout_s=90)
        return self._model.exchanges[before + 1].text

    @property
    def shell_pane(self) -> str:
        items = call_robot(self.visor, "state")["items"]
        return str(next(item["identity"]["id"] for item in items if item["identity"]["pane_id"] == self._shell))

    @property
    def agent_pane(self) -> int:
        found = wait_until(
            lambda: [one for one in call_robot(self.visor, "state")["items"] if one.get("agent")], timeout_s=60
        )
        return int(found[0]["identity"]["id"])

    def list_audit(self) -> list[dict]:
        return call_robot(self.visor, "audit", "--kind", "send_text", "--actor", "mcp")["items"]


@contextmanager
def start_agent_with_tools(program: AgentProgram, name: str, ready_text: str, *args: str) -> Iterator[AgentWithTools]:
    with (
        open_model_server() as model,
        make_short_folder() as folder,
        run_private_tmux(folder) as tmux,
        run_instance(folder, tmux.socket) as visor,
    ):
        install_pattern_cache(visor.paths)
        place = AgentFolders(Path(folder) / "agent", model.address)
        place.folder.mkdir()
        program.prepare(place)
        # Agents start the bridge by name; here it must find the private instance.
        script = place.folder / "bin" / "visor"
        given = {key: value for key, value in visor.env.items() if key.startswith("VISOR_")} | {
            "PYTHONPATH": ":".join(sys.path)
        }
        words = " ".join(f"{key}={shlex.quote(value)}" for key, value in given.items())
        script.write_text(f'#!/bin/sh\nexec env {words} {shlex.quote(sys.executable)} -m termvisor "$@"\n')
        script.chmod(0o755)
        visor.env = {**visor.env, "HOME": str(place.home), "PATH": f"{script.parent}:{visor.env['PATH']}"}
        visor.allow_changes()
        visor.run_checked("setup", "agents", "--agent", name, "--mcp", "--yes")
        if name == "codex":
            # Codex asks by itself before it calls a tool that acts; here Termvisor's own question is tested.
            with (place.home / ".codex/config.toml").open("a") as config:
                config.write('[mcp_servers.visor.tools.send]\napproval_mode = "approve"\n')
        agent = CodexPane(tmux, place, program)
        agent.start(ready_text, *args)
        shell = tmux.start_session(
            "shell", f"exec env -C {shlex.quote(str(place.cwd))} PS1='$ ' bash --norc --noprofile"
        )
        visor.start()
        yield AgentWithTools(visor, agent, model, shell)


def test_claude_code_calls_tools_and_a_send_waits_for_a_person() -> None:
    allowed = "mcp__visor__panes,mcp__visor__send"
    with start_agent_with_tools(CLAUDE, "claude_code", "mode on", "--allowedTools", allowed) as scene:
        assert "<terminal-data" in scene.ask_model("MODEL tool mcp__visor__panes {}")
        _check_send_waits_for_a_person(scene, "MODEL tool mcp__visor__send")
        causes = {item["correlation"].split(".")[0][:10] for item in scene.list_audit()}
        assert causes == {"mcp:toolu_"}


def test_codex_calls_tools_and_a_send_waits_for_a_person() -> None:
    program = replace(CODEX, default_args=("--disable", "daemon_auto_start"))
    with start_agent_with_tools(program, "codex", "Hooks need review") as scene:
        scene.agent.press("3", "Enter")
        scene.agent.wait_for_text("Ask Codex")
        scene.agent.wait_until_still()
        assert "<terminal-data" in scene.ask_model("MODEL tool mcp__visor__panes {}")
        _check_send_waits_for_a_person(scene, "MODEL tool mcp__visor__send")
        assert all(item["correlation"].startswith("mcp:") for item in scene.list_audit())


def _check_send_waits_for_a_person(scene: AgentWithTools, call: str) -> None:
    made = scene.agent.place.cwd / "made"
    prompt = f'{call} {{"pane":"{scene.shell_pane}","text":"touch made","at_prompt":true}}'
    assert "needs_approval" in scene.ask_model(prompt)
    (request,) = call_robot(scene.visor, "inbox")["items"]
    assert not made.exists()
    scene.visor.run_at_terminal(f"approve {request['id']}", "approved")
    assert "delivered" in scene.ask_model(prompt)
    wait_until(made.exists)
    entries = scene.list_audit()
    assert {entry["stage"] for entry in entries} >= {"asked", "intent", "outcome"}
    assert all(f"pane {scene.agent_pane}" in entry["by"] for entry in entries), entries
