"""Eight stories of an agent that knows only `visor robot`, beside a real agent: few calls, few tokens."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from termvisor.system.subprocesses import run_and_capture
from tests.live.agents.agent_programs import CLAUDE
from tests.live.agents.multi_agent_scene import MultiAgentScene, ShellPane, open_multi_agent_scene
from tests.live.shell_prompts import BASH, BASH_MARKS

pytestmark = pytest.mark.live

MAX_CALLS, MAX_TOKENS = 35, 9000
_BYTES_PER_TOKEN = 4
_POLICY = """
unproven_prompt = true
[[rule]]
id = "stories"
when = { kind = ["send_text", "run_workflow", "update_records"] }
answer = "allow"
[commands]
unknown_effect = "allow"
"""
_WORKFLOW = (
    "name: greet\nsummary: Say hello.\nmode: on\nsteps:\n  - send: echo hello-$((6*7))\n  - wait_for: hello-42\n"
)


class CountedCaller:
    """Runs `visor robot`, and counts the calls and the bytes that a program reads."""

    def __init__(self, multi_scene: MultiAgentScene):
        self._env, self.calls, self.bytes_read = multi_scene.scene.visor.env, 0, 0

    @property
    def tokens(self) -> float:
        return self.bytes_read / _BYTES_PER_TOKEN

    def call(self, *words: str) -> dict[str, Any]:
        """Return the data of a call that must succeed."""
        status, out, errors = run_and_capture([sys.executable, "-m", "termvisor", "robot", *words], env=self._env)
        self.calls += 1
        self.bytes_read += len(out) + len(errors)
        answer = msgspec.json.decode(out)
        assert status == 0, f"{words}: {answer['error']} {errors!r}"
        return dict(answer["data"])


@pytest.fixture
def multi_scene() -> Iterator[MultiAgentScene]:
    with open_multi_agent_scene() as found:
        config = Path(found.scene.visor.paths.config_dir)
        (config / "workflows").mkdir(parents=True)
        (config / "workflows/greet.yaml").write_text(_WORKFLOW)
        (config / "policy.toml").write_text(_POLICY)
        yield found


def _open_shell(multi_scene: MultiAgentScene, folder: Path) -> ShellPane:
    (folder / "rc").write_text(f"{BASH}{BASH_MARKS}")
    scene = multi_scene.scene
    return ShellPane(scene, scene.tmux.start_session("work", f"bash --noprofile --rcfile {folder / 'rc'}"))


def test_eight_stories_take_few_calls_and_few_tokens(multi_scene: MultiAgentScene, tmp_path: Path) -> None:
    shell = _open_shell(multi_scene, tmp_path)
    agent = multi_scene.start(CLAUDE, multi_scene.prepare_folders("stories", CLAUDE))
    agent.wait_for_state("idle", seconds=60)
    agent.send_prompt("MODEL text the moon is made of rock")
    agent.wait_for_state("completed")
    shell.wait_for_prompt()
    robot = CountedCaller(multi_scene)

    # Onboard: what is this, which panes are there, who needs a person?
    assert "get-screen" in str(robot.call("quick-start"))
    assert robot.call("status")["summary"]["agents"] == 1

    # Find an agent and read its last 200 lines.
    (found,) = robot.call("state", "--agent", "claude_code")["items"]
    agent_pane = str(found["identity"]["id"])
    assert agent_pane == str(agent.id)
    text = robot.call("get-text", agent_pane, "--tail", "200")
    assert "made of rock" in text["screen"]  # this agent uses the full screen

    # Wait for a shell, send a command, confirm.
    panes = robot.call("state")["items"]
    shell_pane = next(str(one["identity"]["id"]) for one in panes if one.get("activity", {}).get("kind") == "prompt")
    sent = robot.call("send", shell_pane, "echo built-$((6*7))")
    assert sent["status"] == "delivered"
    matched = robot.call("wait-for", shell_pane, "built-42", "--since", sent["cursor"])
    assert matched["outcome"] == "matched"

    # Search everything and cite the place.
    (hit, *_) = robot.call("search", "built-42", "--limit", "5", "--snippets")["items"]
    assert (str(hit["identity"]["id"]), "built-42" in hit["text"], hit["at"] > "2000") == (shell_pane, True, True)

    # Run a workflow and learn what it did.
    assert "greet" in [item["name"] for item in robot.call("workflow", "list", "--fields", "name,summary")["items"]]
    ran = robot.call("workflow", "run", "greet", shell_pane, "--force", "--wait", "20")
    assert ran["run"]["status"] == "completed", ran
    assert "echo hello-" in ran["changed"][0]

    # Reserve a pane, act under the reservation, release it.
    reserved = robot.call("reserve", shell_pane, "--owner", "worker")
    robot.call("send", shell_pane, "echo mine", "--owner", "worker")
    robot.call("release", str(reserved["reservation_id"]))

    # Events that nobody has handled.
    robot.call("send", shell_pane, "no-such-program")
    (event, *_) = robot.call("events", "--unhandled", "--pane", shell_pane, "--wait", "20")["items"]
    assert robot.call("events", "ack", event["cursor"])["items"][0]["status"] == "handled"

    # Prompt an agent and read its answer.
    sent = robot.call("send", agent_pane, "--program", "MODEL text the sky is full of air")
    done = robot.call("wait-for", agent_pane, "--state", "completed", "--since", sent["cursor"], "--timeout-secs", "40")
    assert done["agent"]["state"] == "completed"
    assert "full of air" in "\n".join(robot.call("get-screen", agent_pane)["rows"])

    print(f"{robot.calls} calls, {robot.tokens:.0f} tokens")
    assert robot.calls <= MAX_CALLS
    assert robot.tokens <= MAX_TOKENS
