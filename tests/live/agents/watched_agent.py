"""A real agent in a captured pane, and a user with `visor` at another terminal."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import VisorInstance, run_instance
from tests.live.agents.agent_pane import AgentPane
from tests.live.agents.agent_programs import AgentFolders, AgentProgram
from tests.live.agents.codex_home import CodexPane
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot
from tests.pattern_cache import install_pattern_cache


@dataclass
class WatchedAgent:
    visor: VisorInstance
    agent_pane: AgentPane

    @property
    def pane(self) -> str:
        """The pane number, once the agent in it is identified."""
        found = wait_until(
            lambda: [one for one in call_robot(self.visor, "state")["items"] if one.get("agent")], timeout_s=60
        )
        return str(found[0]["identity"]["id"])

    def get_state(self) -> str:
        return next((one["state"] for one in call_robot(self.visor, "state")["items"] if one.get("agent")), "")

    def wait_for_approval(self) -> dict:
        """Wait for an open request and return it."""
        return wait_until(lambda: call_robot(self.visor, "inbox")["items"], timeout_s=90)[0]

    def list_approval_states(self) -> list[str]:
        return [item["state"] for item in call_robot(self.visor, "inbox", "--all")["items"]]

    def list_audit_steps(self, correlation: str) -> list[tuple[str, str, str]]:
        items = call_robot(self.visor, "audit", "--limit", "50")["items"]
        return [(one["stage"], one["outcome"], one["why"]) for one in items if one["correlation"] == correlation]

    def run_in_user_terminal(self, words: str, awaited: str) -> str:
        """Run a visor command at a terminal without capture and return its screen."""
        return self.visor.run_at_terminal(words, awaited)

    def run_allowed(self, *words: str) -> dict:
        """Run a robot command with a policy that allows it without approval."""
        rule = '[[rule]]\nid = "free"\nanswer = "allow"\nwhen = { actor = ["robot"] }\n'
        # The scripts that resume agents here are programs of the test.
        self.write_policy(f'{rule}[commands]\nunknown_effect = "allow"\n')
        return self.visor.call_robot(*words)

    def dry_run(self, *words: str) -> dict:
        return self.visor.call_robot(*words, "--dry-run")["foreseen"]

    def get_refusal_reason(self, *words: str) -> str:
        """Return the reason of a refusal."""
        status, out, _ = self.visor.run("robot", *words)
        assert status == 75, out
        return msgspec.json.decode(out)["error"]["details"]["why"]

    def get_refusal_message(self, *words: str) -> str:
        """Return the message of a refusal."""
        status, out, _ = self.visor.run("robot", *words)
        assert status, out
        return msgspec.json.decode(out)["error"]["message"]

    def list_sessions(self) -> list[dict]:
        return call_robot(self.visor, "agents", "sessions")["items"]

    def is_server_connected(self) -> bool:
        """Return True if the agent's own server is connected."""
        return self.get_server_health()["status"] == "well"

    def get_server_health(self) -> dict:
        """Return the health of its own server; the status is empty before it is known."""
        sources = call_robot(self.visor, "list-sources")["items"]
        return next((one for one in sources if one["source"] in ("app_server", "server")), {"status": ""})

    def explain(self) -> dict:
        return call_robot(self.visor, "explain", self.pane)

    def write_policy(self, text: str) -> None:
        """Write the user's policy file."""
        folder = Path(self.visor.paths.config_dir)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "policy.toml").write_text(text)

    def get_path(self, name: str) -> Path:
        return self.agent_pane.place.cwd / name


@contextmanager
def start_watched_agent(
    program: AgentProgram,
    model: str,
    ready_text: str,
    *,
    hooks: str = "",
    settings: Mapping[str, str] = {},
    args: tuple[str, ...] = (),
) -> Iterator[WatchedAgent]:
    """Start a captured agent; ``hooks`` names the agent for `visor setup agents`, ``args`` are extra arguments."""
    with (
        make_short_folder() as folder,
        run_private_tmux(folder) as tmux,
        run_instance(folder, tmux.socket, **settings) as visor,
    ):
        install_pattern_cache(visor.paths)
        place = AgentFolders(Path(folder) / "agent", model)
        place.folder.mkdir()
        program.prepare(place)
        visor.env = {**visor.env, "HOME": str(place.home)}
        if hooks:
            visor.allow_changes()
            visor.run_checked("setup", "agents", "--agent", hooks, "--yes")
        agent_pane = CodexPane(tmux, place, program)
        agent_pane.start(ready_text, *args)
        visor.start()
        yield WatchedAgent(visor, agent_pane)
