"""The real agents compact and reach their limits; the built-in workflows answer once, and never beside a person."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

import pytest

from tests.live.agents.company import Company, company
from tests.live.agents.lab import CLAUDE, CODEX, Program
from tests.live.agents.model.server import model_server
from tests.live.waiting import until

pytestmark = [pytest.mark.live, pytest.mark.timeout(400)]

POLICY = '[[rule]]\nid = "free"\nanswer = "allow"\nwhen = { actor = ["robot", "workflow"] }\n'
ENDED = ("completed", "failed", "cancelled")
REFRESH = "Reread AGENTS.md so it's still fresh in your mind."
TOLD = ("user", "response_item")
"""The lines of an agent's record that say what it was told; others repeat it."""
SLACK = 30.0
"""Seconds that a loaded machine may take until the agent asks its model."""
PATIENCE = 5.0
"""Seconds from the detection of a limit to its plan, at most."""


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with model_server() as address:
        yield address


@contextmanager
def at_work(program: Program, model: str, shows: str, workflow: str, hooks: str = "") -> Iterator[Company]:
    settings = {"workflow_modes": f"{workflow}=on"}
    with company(program, model, shows, hooks=hooks, settings=settings) as one:
        one.rule(POLICY)
        assert one.pane
        yield one


def runs(one: Company) -> list[dict]:
    return one.visor.robot("workflow", "status", "--all")["items"]


def run_in(one: Company, *statuses: str, seconds: float = 60.0) -> dict:
    """The only run, once it is in one of these."""
    try:
        found = until(lambda: [run for run in runs(one) if run["status"] in statuses], seconds=seconds)
    except AssertionError as error:
        events = one.visor.robot("events", "--limit", "50")["items"]
        told = [(item["kind"], item["data"]) for item in events]
        raise AssertionError(f"{error}\n{runs(one)}\n{told}\n{one.stage.text()}") from None
    assert len(runs(one)) == 1
    return found[0]


def said_to(one: Company, folder: str, words: str) -> int:
    """How often the agent's own record says that it was told this."""
    files = (one.stage.place.home / folder).rglob("*.jsonl")
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return sum(_is_said(line, words) for line in lines)


def _is_said(line: dict, words: str) -> bool:
    message = line.get("message") or line.get("payload") or {}
    is_users = isinstance(message, dict) and message.get("role") == "user" and line["type"] in TOLD
    content = message.get("content") if is_users else ""
    parts = content if isinstance(content, list) else [{"text": content}]
    return any(str(part.get("text", "")).strip() == words for part in parts if isinstance(part, dict))


def detected(one: Company, kind: str) -> list[dict]:
    return one.visor.robot("events", "--type", kind, "--limit", "50")["items"]


@pytest.mark.parametrize("hooks", ["claude_code", ""], ids=["hooked", "bare"])
def test_after_a_compaction_claude_code_hears_the_refresh_prompt_once(model: str, hooks: str) -> None:
    with at_work(CLAUDE, model, "mode on", "handle_compaction", hooks) as claude:
        claude.stage.prompt("MODEL text something to forget")
        until(lambda: claude.state() in ("completed", "idle"))
        claude.stage.prompt("/compact")
        run = run_in(claude, *ENDED)
        assert (run["status"], run["why"].partition(" (")[0]) == ("completed", "the prompt was sent and taken up")
        until(lambda: said_to(claude, ".claude/projects", REFRESH))
        claude.stage.rests()
        assert said_to(claude, ".claude/projects", REFRESH) == 1
        (event,) = detected(claude, "session.compaction")
        assert event["detection"]["handled"]["by"] == "workflow:handle_compaction"
        assert len(runs(claude)) == 1


def test_a_usage_limit_of_codex_is_paused_planned_and_ended_once(model: str) -> None:
    with at_work(CODEX, model, "Ask Codex", "handle_usage_limits") as codex:
        told_at = time.time()
        codex.stage.prompt("MODEL limit 30")
        run = run_in(codex, "paused")
        (event,) = detected(codex, "usage.reached")
        (pause,) = [step for step in steps(codex) if step["kind"] == "pause"]
        assert at(pause["began_at"]) - at(event["at"]) <= PATIENCE
        assert 30 <= at(run["due_at"]) - told_at <= 30 + 60 + SLACK
        session = codex.sessions()[-1]["external_id"]
        assert f"codex resume {session}" in run["plan"]
        assert event["detection"]["handled"]["by"] == "workflow:handle_usage_limits"
        codex.visor.kill_daemon()
        codex.visor.visor("list-panes")
        run = run_in(codex, *ENDED, seconds=180)
        assert (run["status"], run["why"]) == ("completed", "the limit is over and the agent works again")
        until(lambda: said_to(codex, ".codex/sessions", "proceed."))
        codex.stage.rests()
        assert said_to(codex, ".codex/sessions", "proceed.") == 1


def test_for_a_person_who_writes_there_the_run_steps_back(model: str) -> None:
    with at_work(CODEX, model, "Ask Codex", "handle_usage_limits") as codex:
        codex.stage.prompt("MODEL limit 20")
        run_in(codex, "paused")
        codex.stage.press("Escape")
        codex.stage.rests()
        codex.stage.press("-l", "half a thought")
        run = run_in(codex, *ENDED, seconds=180)
        assert run["status"] == "cancelled"
        assert "a person has the pane" in run["why"]
        assert "half a thought" in codex.stage.text()
        assert said_to(codex, ".codex/sessions", "proceed.") == 0


def test_for_a_person_who_goes_on_it_ends_at_once(model: str) -> None:
    with at_work(CODEX, model, "Ask Codex", "handle_usage_limits") as codex:
        codex.stage.prompt("MODEL limit 900")
        run_in(codex, "paused")
        codex.stage.press("Escape")
        codex.stage.rests()
        codex.stage.prompt("MODEL slow 3")
        run = run_in(codex, *ENDED, seconds=30)
        assert (run["status"], run["why"]) == ("cancelled", "the pane is not as it was left: codex is running")


def test_switched_off_in_the_middle_of_its_pause_it_ends_at_once(model: str) -> None:
    with at_work(CODEX, model, "Ask Codex", "handle_usage_limits") as codex:
        codex.stage.prompt("MODEL limit 900")
        run_in(codex, "paused")
        codex.visor.visor("config", "set", "pause_on_limit", "false")
        codex.visor.visor("config", "reload")
        run = run_in(codex, *ENDED, seconds=30)
        assert (run["status"], "pause_on_limit is off" in run["why"]) == ("cancelled", True)


def steps(one: Company) -> list[dict]:
    return one.visor.robot("workflow", "history", "1")["steps"]


def at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
