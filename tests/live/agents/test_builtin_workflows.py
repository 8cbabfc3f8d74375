"""Compaction and usage limit workflows with real agents: they act once, and not while a user types."""

import time
from collections.abc import Iterator

import pytest

from tests.live.agents.agent_programs import CLAUDE, CODEX
from tests.live.agents.model.server import run_model_server
from tests.live.agents.workflow_runs import (
    ENDED_STATUSES,
    count_prompts,
    list_detections,
    list_runs,
    list_steps,
    parse_timestamp,
    start_agent_with_workflow,
    wait_for_run,
)
from tests.live.polling import wait_until

pytestmark = [pytest.mark.live, pytest.mark.timeout(400)]

REFRESH = "Reread AGENTS.md so it's still fresh in your mind."
MAX_DELAY_S = 30.0
"""Seconds until the agent calls its model on a busy machine, at most."""
MAX_PLAN_DELAY_S = 5.0
"""Seconds from the detection of a limit to its plan, at most."""


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with run_model_server() as address:
        yield address


@pytest.mark.parametrize("hooks", ["claude_code", ""], ids=["hooked", "bare"])
def test_after_a_compaction_claude_code_gets_the_refresh_prompt_once(model: str, hooks: str) -> None:
    with start_agent_with_workflow(CLAUDE, model, "mode on", "handle_compaction", hooks) as claude:
        claude.agent_pane.send_prompt("MODEL text something to forget")
        wait_until(lambda: claude.get_state() in ("completed", "idle"))
        claude.agent_pane.send_prompt("/compact")
        run = wait_for_run(claude, *ENDED_STATUSES)
        assert (run["status"], run["why"].partition(" (")[0]) == (
            "completed",
            "the prompt was sent and the agent started to work",
        )
        wait_until(lambda: count_prompts(claude, ".claude/projects", REFRESH))
        claude.agent_pane.wait_until_still()
        assert count_prompts(claude, ".claude/projects", REFRESH) == 1
        (event,) = list_detections(claude, "session.compaction")
        assert event["detection"]["handled"]["by"] == "workflow:handle_compaction"
        assert len(list_runs(claude)) == 1


def test_a_codex_usage_limit_is_paused_planned_and_ended_once(model: str) -> None:
    with start_agent_with_workflow(CODEX, model, "Ask Codex", "handle_usage_limits") as codex:
        prompted_at = time.time()
        codex.agent_pane.send_prompt("MODEL limit 30")
        run = wait_for_run(codex, "paused")
        (event,) = list_detections(codex, "usage.reached")
        (pause,) = [step for step in list_steps(codex) if step["kind"] == "pause"]
        assert parse_timestamp(pause["began_at"]) - parse_timestamp(event["at"]) <= MAX_PLAN_DELAY_S
        assert 30 <= parse_timestamp(run["due_at"]) - prompted_at <= 30 + 60 + MAX_DELAY_S
        session = codex.list_sessions()[-1]["external_id"]
        assert f"codex resume {session}" in run["plan"]
        assert event["detection"]["handled"]["by"] == "workflow:handle_usage_limits"
        codex.visor.kill_daemon()
        codex.visor.run_checked("list-panes")
        run = wait_for_run(codex, *ENDED_STATUSES, seconds=180)
        assert (run["status"], run["why"]) == ("completed", "the limit is over and the agent works again")
        wait_until(lambda: count_prompts(codex, ".codex/sessions", "proceed."))
        codex.agent_pane.wait_until_still()
        assert count_prompts(codex, ".codex/sessions", "proceed.") == 1


def test_the_limit_run_is_cancelled_when_a_user_types_in_the_pane(model: str) -> None:
    with start_agent_with_workflow(CODEX, model, "Ask Codex", "handle_usage_limits") as codex:
        codex.agent_pane.send_prompt("MODEL limit 20")
        wait_for_run(codex, "paused")
        codex.agent_pane.press("Escape")
        codex.agent_pane.wait_until_still()
        codex.agent_pane.press("-l", "half a thought")
        run = wait_for_run(codex, *ENDED_STATUSES, seconds=180)
        assert run["status"] == "cancelled"
        assert "a person uses the pane" in run["why"]
        assert "half a thought" in codex.agent_pane.capture_text()
        assert count_prompts(codex, ".codex/sessions", "proceed.") == 0


def test_the_limit_run_is_cancelled_when_a_user_sends_a_prompt(model: str) -> None:
    with start_agent_with_workflow(CODEX, model, "Ask Codex", "handle_usage_limits") as codex:
        codex.agent_pane.send_prompt("MODEL limit 900")
        wait_for_run(codex, "paused")
        codex.agent_pane.press("Escape")
        codex.agent_pane.wait_until_still()
        codex.agent_pane.send_prompt("MODEL slow 3")
        run = wait_for_run(codex, *ENDED_STATUSES, seconds=30)
        assert (run["status"], run["why"]) == ("cancelled", "the pane changed during the pause: codex is running")


def test_the_limit_run_is_cancelled_when_pause_on_limit_is_switched_off(model: str) -> None:
    with start_agent_with_workflow(CODEX, model, "Ask Codex", "handle_usage_limits") as codex:
        codex.agent_pane.send_prompt("MODEL limit 900")
        wait_for_run(codex, "paused")
        codex.visor.allow_changes()
        codex.visor.run_checked("config", "set", "pause_on_limit", "false")
        codex.visor.run_checked("config", "reload")
        run = wait_for_run(codex, *ENDED_STATUSES, seconds=30)
        assert (run["status"], "pause_on_limit is off" in run["why"]) == ("cancelled", True)
