"""An agent that something else started: it is known as itself, whatever stands around it."""

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
"""What stands around the agent's own words."""
DEFINED = {"alias": 'alias c="{}"', "function": "c() {{ {}; }}"}


@pytest.fixture(scope="module")
def seats() -> Iterator[dict[str, ShellPane]]:
    """All at once."""
    with open_multi_agent_scene() as one:
        yield {name: seated(one, name) for name in WRAPPERS} | {"npx": by_npx(one)}


def seated(one: MultiAgentScene, name: str) -> ShellPane:
    place, seat = one.prepare_folders(name, CLAUDE), one.open_pane()
    for path in (place.folder, *place.folder.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)  # for whoever sudo makes of us
    line = build_shell_command(CLAUDE, place, wrap=WRAPPERS[name])
    if name in DEFINED:
        seat.type(DEFINED[name].format(line.replace("$", "\\$") if name == "alias" else line))
    seat.type("c" if name in DEFINED else line)
    return seat


def by_npx(one: MultiAgentScene) -> ShellPane:
    return one.start(
        GEMINI, one.prepare_folders("npx", GEMINI), wrap=f"npx --no-install --prefix {NODE_MODULES.parent} gemini"
    )


@pytest.mark.parametrize("name", WRAPPERS)
def test_what_is_around_an_agent_is_not_the_agent(seats, name):
    seat = seats[name]
    assert seat.wait_for_state("idle", seconds=90)["agent"] == "claude_code"
    wait_until(lambda: seat.pane_row["evidence_mode"] == "deterministic")  # its screen may be seen first
    (began,) = seat.began_events
    assert os.readlink(f"/proc/{began['pid']}/exe") == os.path.realpath(CLAUDE.path)


def test_npx_is_not_the_agent(seats):
    row = seats["npx"].wait_for_state("idle", seconds=90)
    assert row["agent"] == "gemini"
    with open(f"/proc/{seats['npx'].began_events[-1]['pid']}/cmdline") as words:
        assert words.read().split("\0")[0].endswith("node")
