"""`visor setup agents` with real agents: their hooks report events, and removal restores the files."""

import json
from pathlib import Path

import pytest

from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import VisorInstance
from tests.live.agents.agent_pane import AgentPane
from tests.live.agents.agent_programs import (
    CLAUDE,
    CODEX,
    COPILOT,
    GEMINI,
    NODE_MODULES,
    OPENCODE,
    AgentFolders,
    AgentProgram,
)
from tests.live.agents.model.server import run_model_server
from tests.live.polling import wait_until

pytestmark = pytest.mark.live

CODEX_ARGS = ("--dangerously-bypass-hook-trust", "--disable", "daemon_auto_start")
"""Codex without the dialog about new hooks and without a server that outlives it."""
CASES = [
    (CLAUDE, "claude_code", "mode on", (), {"SessionStart", "UserPromptSubmit", "Stop"}),
    (CODEX, "codex", "Ask Codex", CODEX_ARGS, {"SessionStart", "UserPromptSubmit", "Stop"}),
    (GEMINI, "gemini", "Type your message", (), {"SessionStart", "BeforeAgent", "AfterAgent"}),
    (COPILOT, "copilot", "Interactive", (), {"sessionStart", "userPromptSubmitted", "agentStop"}),
    (OPENCODE, "opencode", "Ask anything", (), {"session.status", "session.idle"}),
]


@pytest.fixture(scope="module")
def model():
    with run_model_server() as address:
        yield address


def read_home_files(home: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes() for path in home.rglob("*") if path.is_file() and NODE_MODULES not in path.parents
    }


@pytest.mark.parametrize(("program", "agent", "ready", "words", "expected"), CASES, ids=[case[1] for case in CASES])
def test_hooks_are_installed_removed_and_report_events(
    program: AgentProgram, agent: str, ready: str, words, expected: set[str], model
) -> None:
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        place = AgentFolders(Path(folder) / "agent", model)
        program.prepare(place)
        visor = VisorInstance(folder, [tmux.socket])
        visor.env = {**visor.env, "HOME": str(place.home)}
        before = read_home_files(place.home)
        visor.allow_changes()
        visor.run_checked("setup", "agents", "--agent", agent, "--yes")
        changed = read_home_files(place.home)
        visor.run_checked("setup", "agents", "--agent", agent, "--remove", "--yes")
        assert read_home_files(place.home) == before
        visor.run_checked("setup", "agents", "--agent", agent, "--yes")
        assert read_home_files(place.home) == changed

        visor.run_checked("down")  # a daemon would erase the events that it has stored
        agent_pane = AgentPane(tmux, place, program)
        agent_pane.start(ready, *words)
        agent_pane.send_prompt("MODEL text well done")
        spool = Path(visor.paths.spool_dir, "hooks.jsonl")
        wait_until(lambda: expected <= {one["event"] for one in read_spool(spool)})
        records = read_spool(spool)
        assert {one["agent"] for one in records} == {agent}
        assert {one["pane"] for one in records} == {agent_pane.pane}


def read_spool(spool: Path) -> list[dict]:
    return [json.loads(line) for line in spool.read_text().splitlines()] if spool.exists() else []
