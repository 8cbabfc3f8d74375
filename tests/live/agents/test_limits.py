"""Edge cases of usage limits with real agents: dialogs, automatic continuation, typing users, killed daemons."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from termvisor.testing.private_tmux import PrivateTmux, make_short_folder, run_private_tmux
from tests.live.agents.agent_programs import CLAUDE, CODEX, GEMINI
from tests.live.agents.claude_pane import SUBSCRIBED_CLAUDE
from tests.live.agents.model.server import run_model_server
from tests.live.agents.watched_agent import WatchedAgent
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

MAX_PLAN_DELAY_S = 5.0
"""Seconds from the detection of a limit to its plan, at most."""
CLOCK = "import time\nreal = time.time_ns\ntime.time_ns = lambda: real() + {by} * 10**9\n"


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with run_model_server() as address:
        yield address


def list_action_types(one: WatchedAgent) -> list[str]:
    """Return the types of the run's actions in order."""
    given = [step["given"] for step in list_steps(one) if step["kind"] == "act"]
    return [(one.get("action") or one["wish"])["type"] for one in given]


def test_a_gemini_limit_dialog_is_answered_only_after_a_resume(model: str) -> None:
    with start_agent_with_workflow(GEMINI, model, "Type your message", "handle_usage_limits") as gemini:
        gemini.agent_pane.send_prompt(f"MODEL until {int(time.time()) + 8}")
        gemini.agent_pane.wait_for_text("1. Keep trying")
        run = wait_for_run(gemini, "paused")
        (event,) = list_detections(gemini, "usage.reached")
        (pause,) = [step for step in list_steps(gemini) if step["kind"] == "pause"]
        assert parse_timestamp(pause["began_at"]) - parse_timestamp(event["at"]) <= MAX_PLAN_DELAY_S
        assert (run["due_at"], list_action_types(gemini)) == (None, [])
        assert "did not say when that ends" in run["plan"]
        gemini.agent_pane.wait_until_still()
        assert "● 1. Keep trying" in gemini.agent_pane.capture_text()
        wait_until(lambda: time.time() > parse_timestamp(event["at"]) + 8)
        gemini.visor.run_at_terminal(f"workflow resume {run['id']}", f"run {run['id']} ")
        run = wait_for_run(gemini, *ENDED_STATUSES)
        assert (run["status"], run["why"]) == ("completed", "the limit is over and the agent works again")
        gemini.agent_pane.wait_for_text("The limit is over.")
        assert list_action_types(gemini) == ["answer_dialog"]
        assert "proceed." not in gemini.agent_pane.capture_text()


def test_the_plan_has_the_reset_time_of_the_gemini_dialog(model: str) -> None:
    with start_agent_with_workflow(GEMINI, model, "Type your message", "handle_usage_limits") as gemini:
        ends = int(time.time()) + 900
        gemini.agent_pane.send_prompt(f"MODEL until {ends}")
        gemini.agent_pane.wait_for_text("Access resets at")
        run = wait_for_run(gemini, "paused")
        assert ends // 60 * 60 <= parse_timestamp(run["due_at"]) <= ends + 60
        assert list_action_types(gemini) == []


def test_claude_code_continues_by_itself_without_an_action(model: str) -> None:
    with start_agent_with_workflow(SUBSCRIBED_CLAUDE, model, "mode on", "handle_usage_limits") as claude:
        claude.agent_pane.send_prompt(f"MODEL until {int(time.time()) + 20}")
        claude.agent_pane.wait_for_text("ontinuing automatically at")
        run = wait_for_run(claude, "paused")
        assert "goes on by itself" in run["plan"]
        run = wait_for_run(claude, *ENDED_STATUSES, seconds=300)
        assert (run["status"], run["why"]) == ("completed", "the limit is over and the agent continued by itself")
        claude.agent_pane.wait_for_text("The limit is over.")
        claude.agent_pane.wait_until_still()
        assert list_action_types(claude) == []
        assert count_prompts(claude, ".claude/projects", "proceed.") == 0


class AttachedUser:
    """A user at a terminal that is attached to the agent's session."""

    def __init__(self, user_tmux: PrivateTmux, pane: str):
        self._own, self._pane = user_tmux, pane

    def press(self, *keys: str) -> None:
        self._own("send-keys", "-t", self._pane, *keys)

    @property
    def screen(self) -> str:
        return self._own("capture-pane", "-p", "-t", self._pane)


@contextmanager
def attach_user(one: WatchedAgent) -> Iterator[AttachedUser]:
    with make_short_folder() as folder, run_private_tmux(folder) as user_tmux:
        inner = one.agent_pane.tmux
        session = inner.read_format(one.agent_pane.pane, "#{session_name}")
        client = f"exec env -u TMUX -u TMUX_PANE tmux -S {inner.socket} attach-session -t '={session}'"
        found = AttachedUser(user_tmux, user_tmux.start_session("own", client, width=110, height=47))
        wait_until(lambda: inner.read_format(one.agent_pane.pane, "#{session_attached}") != "0")
        yield found


def type_until_run_ends(one: WatchedAgent, user: AttachedUser) -> dict:
    """Press harmless keys until the run ends, and return it."""

    def press_and_list_runs() -> list[dict]:
        user.press("Left")
        return [run for run in list_runs(one) if run["status"] in ENDED_STATUSES]

    return wait_until(press_and_list_runs, timeout_s=60)[0]


def test_typing_at_the_end_of_a_limit_cancels_the_run(model: str) -> None:
    with (
        start_agent_with_workflow(CODEX, model, "Ask Codex", "handle_usage_limits") as codex,
        attach_user(codex) as user,
    ):
        codex.agent_pane.send_prompt("MODEL limit 900")
        run = wait_for_run(codex, "paused")
        user.press("Escape")
        codex.agent_pane.wait_until_still()
        user.press("Left")
        codex.visor.run_at_terminal(f"workflow resume {run['id']}", f"run {run['id']} ")
        run = type_until_run_ends(codex, user)
        assert (run["status"], "a user typed in the pane" in run["why"]) == ("cancelled", True), (run, user.screen)
        assert count_prompts(codex, ".codex/sessions", "proceed.") == 0
        assert "proceed." not in user.screen


def test_typing_after_a_compaction_cancels_the_run(model: str) -> None:
    with (
        start_agent_with_workflow(CLAUDE, model, "mode on", "handle_compaction") as claude,
        attach_user(claude) as user,
    ):
        claude.agent_pane.send_prompt("MODEL text something to forget")
        wait_until(lambda: claude.get_state() in ("completed", "idle"))
        claude.agent_pane.send_prompt("/compact")
        run = type_until_run_ends(claude, user)
        assert (run["status"], "a user typed in the pane" in run["why"]) == ("cancelled", True), (run, user.screen)
        assert count_prompts(claude, ".claude/projects", "Reread AGENTS.md so it's still fresh in your mind.") == 0


@pytest.mark.parametrize("late", [-3, 1, 5400], ids=["just before", "at the moment", "long after"])
def test_a_daemon_killed_around_the_end_of_a_limit_continues_the_agent_once(
    model: str, tmp_path: Path, late: int
) -> None:
    with start_agent_with_workflow(CODEX, model, "Ask Codex", "handle_usage_limits") as codex:
        codex.agent_pane.send_prompt("MODEL limit 900")
        run = wait_for_run(codex, "paused")
        codex.visor.kill_daemon()
        set_clock(codex, tmp_path, round(parse_timestamp(run["due_at"]) - time.time()) + late)
        codex.visor.run_checked("list-panes")
        run = wait_for_run(codex, *ENDED_STATUSES)
        assert (run["status"], run["why"]) == ("completed", "the limit is over and the agent works again")
        wait_until(lambda: count_prompts(codex, ".codex/sessions", "proceed."))
        codex.visor.kill_daemon()
        codex.visor.run_checked("list-panes")
        codex.agent_pane.wait_until_still()
        assert count_prompts(codex, ".codex/sessions", "proceed.") == 1
        assert len(list_runs(codex)) == 1


def set_clock(one: WatchedAgent, folder: Path, seconds: int) -> None:
    """Set the clock of the next daemon ahead."""
    (folder / "sitecustomize.py").write_text(CLOCK.format(by=seconds))
    path = os.pathsep.join(filter(None, [str(folder), *sys.path]))
    one.visor.env = {**one.visor.env, "PYTHONPATH": path}
