"""The real agents compact and reach their limits; the built-in workflows answer once, and never beside a person."""

import time
from collections.abc import Iterator

import pytest

from tests.live.agents.lab import CLAUDE, CODEX
from tests.live.agents.model.server import model_server
from tests.live.agents.runs import ENDED, at, at_work, detected, run_in, runs, said_to, steps
from tests.live.waiting import until

pytestmark = [pytest.mark.live, pytest.mark.timeout(400)]

REFRESH = "Reread AGENTS.md so it's still fresh in your mind."
SLACK = 30.0
"""Seconds that a loaded machine may take until the agent asks its model."""
PATIENCE = 5.0
"""Seconds from the detection of a limit to its plan, at most."""


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with model_server() as address:
        yield address


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
