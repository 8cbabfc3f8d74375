"""What `visor setup agents` puts into the settings of every real agent is understood there, and taken out again."""

import json
from pathlib import Path

import pytest

from termvisor.testing.instance import Instance
from termvisor.testing.tmux import private_tmux, short_folder
from tests.live.agents.lab import CLAUDE, CODEX, COPILOT, GEMINI, OPENCODE, PARTS, Program, Workplace
from tests.live.agents.model.server import model_server
from tests.live.agents.stage import Stage
from tests.live.waiting import until

pytestmark = pytest.mark.live

ALONE = ("--dangerously-bypass-hook-trust", "--disable", "daemon_auto_start")
"""Codex without its question about new hooks, and without a server that outlives it."""
CASES = [
    (CLAUDE, "claude_code", "mode on", (), {"SessionStart", "UserPromptSubmit", "Stop"}),
    (CODEX, "codex", "Ask Codex", ALONE, {"SessionStart", "UserPromptSubmit", "Stop"}),
    (GEMINI, "gemini", "Type your message", (), {"SessionStart", "BeforeAgent", "AfterAgent"}),
    (COPILOT, "copilot", "Interactive", (), {"sessionStart", "userPromptSubmitted", "agentStop"}),
    (OPENCODE, "opencode", "Ask anything", (), {"session.status", "session.idle"}),
]


@pytest.fixture(scope="module")
def model():
    with model_server() as address:
        yield address


def files(home: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in home.rglob("*") if path.is_file() and PARTS not in path.parents}


@pytest.mark.parametrize(("program", "agent", "ready", "words", "expected"), CASES, ids=[case[1] for case in CASES])
def test_its_events_arrive(program: Program, agent: str, ready: str, words, expected: set[str], model) -> None:
    with short_folder() as folder, private_tmux(folder) as tmux:
        place = Workplace(Path(folder) / "agent", model)
        program.settle(place)
        visor = Instance(folder, [tmux.socket])
        visor.env = {**visor.env, "HOME": str(place.home)}
        before = files(place.home)
        visor.visor("setup", "agents", "--agent", agent, "--yes")
        changed = files(place.home)
        visor.visor("setup", "agents", "--agent", agent, "--remove", "--yes")
        assert files(place.home) == before
        visor.visor("setup", "agents", "--agent", agent, "--yes")
        assert files(place.home) == changed

        stage = Stage(tmux, place, program)
        stage.start(ready, *words)
        stage.prompt("MODEL text well done")
        spool = Path(visor.places.spool_dir, "hooks.jsonl")
        until(lambda: expected <= {one["event"] for one in read(spool)})
        told = read(spool)
        assert {one["agent"] for one in told} == {agent}
        assert {one["pane"] for one in told} == {stage.pane}


def read(spool: Path) -> list[dict]:
    return [json.loads(line) for line in spool.read_text().splitlines()] if spool.exists() else []
