"""Agents started by wrapper programs are identified as the agent, not the wrapper."""

import os
from collections.abc import Iterator

import pytest

from tests.live.agents.agent_programs import CLAUDE, GEMINI, NODE_MODULES
from tests.live.agents.multi_agent_scene import MultiAgentScene, ShellPane, build_shell_command, open_multi_agent_scene
from tests.live.polling import wait_until

pytestmark = pytest.mark.live

NODE = """node -e 'require("child_process").spawnSync("sh", ["-c", process.argv[1]], {{stdio: "inherit"}})' {quoted}"""
WRAPPERS = {
    "env": "env FOO=1 {}",
    "timeout": "timeout --foreground 900 {}",
    "script": "script -q -c {quoted} /dev/null",
    "bash": "bash -c {quoted}'; true'",
    "node": NODE,
    "sudo": "sudo -n --preserve-env -u nobody {}",
    "alias": "{}",
    "function": "{}",
}
"""The command line around the agent's own command."""
DEFINED = {"alias": 'alias c="{}"', "function": "c() {{ {}; }}"}


@pytest.fixture(scope="module")
def panes() -> Iterator[dict[str, ShellPane]]:
    """Start all wrapped agents at once."""
    with open_multi_agent_scene() as multi_scene:
        yield {name: start_wrapped(multi_scene, name) for name in WRAPPERS} | {"npx": start_by_npx(multi_scene)}


def start_wrapped(multi_scene: MultiAgentScene, name: str) -> ShellPane:
    folders, pane = multi_scene.prepare_folders(name, CLAUDE), multi_scene.open_pane()
    for path in (folders.folder, *folders.folder.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)  # for the user that sudo switches to
    line = build_shell_command(CLAUDE, folders, wrap=WRAPPERS[name])
    if name in DEFINED:
        pane.type(DEFINED[name].format(line.replace("$", "\\$") if name == "alias" else line))
    pane.type("c" if name in DEFINED else line)
    return pane


def start_by_npx(multi_scene: MultiAgentScene) -> ShellPane:
    return multi_scene.start(
        GEMINI,
        multi_scene.prepare_folders("npx", GEMINI),
        wrap=f"npx --no-install --prefix {NODE_MODULES.parent} gemini",
    )


@pytest.mark.parametrize("name", WRAPPERS)
def test_a_wrapped_agent_is_identified_by_its_own_process(panes, name):
    pane = panes[name]
    assert pane.wait_for_state("idle", seconds=90)["agent"] == "claude_code"
    wait_until(lambda: pane.pane_row["evidence_mode"] == "deterministic")  # the screen may be classified first
    (event,) = pane.began_events
    assert os.readlink(f"/proc/{event['pid']}/exe") == os.path.realpath(CLAUDE.path)


def test_an_agent_started_by_npx_is_identified_as_node(panes):
    row = panes["npx"].wait_for_state("idle", seconds=90)
    assert row["agent"] == "gemini"
    with open(f"/proc/{panes['npx'].began_events[-1]['pid']}/cmdline") as words:
        assert words.read().split("\0")[0].endswith("node")
