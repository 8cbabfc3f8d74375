"""The real Claude Code in a real tmux with the scripted model: its records and screens are read correctly.

`RECORD=1` writes every scene to tests/recordings/claude_code, where the unit tests replay them.
"""

import os
import re
import signal
import statistics
from dataclasses import replace
from pathlib import Path

import pytest

from termvisor.agents.adapters.claude_code import ADAPTER, keyboard
from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from tests.live.agents.agent_programs import CLAUDE, AgentFolders
from tests.live.agents.claude_pane import ANSWER_FILE, SUBSCRIBED_CLAUDE, ClaudePane, prepare_home
from tests.live.agents.model.server import run_model_server
from tests.live.agents.record_collector import LatencyFigures
from tests.live.agents.scene_recorder import SceneRecorder
from tests.live.polling import wait_until

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

QUESTION = (
    'MODEL tool AskUserQuestion {"questions":[{"question":"Which database?","header":"DB","multiSelect":false,'
    '"options":[{"label":"Postgres","description":"large"},{"label":"SQLite","description":"small"}]}]}'
)
SUBAGENT = (
    'MODEL tool Agent {"description":"a part","prompt":"\\u004dODEL slow 6","subagent_type":"general-purpose",'
    '"run_in_background":false}'
)
BACKGROUND = 'MODEL tool Bash {"command":"sleep 6","run_in_background":true,"description":"A long command"}'

TURN_ENDED = {"registry": "idle", "hook": "completed", "look": "completed", "state": "completed"}
"""The states that the sources report at the end of a turn."""
APPROVAL_REQUESTED = dict.fromkeys(("registry", "hook", "look", "state"), "waiting_approval")
FAILED = {"registry": "idle", "hook": "error", "transcript": "error", "look": "error", "state": "error"}


@pytest.fixture(scope="module")
def model():
    with run_model_server() as address:
        yield address


@pytest.fixture(scope="module")
def figures():
    latency_figures = LatencyFigures()
    yield latency_figures
    for name in ("registry", "hook"):
        if values := getattr(latency_figures, name):
            print(f"\n{name}: median {statistics.median(values):.0f} ms, longest {max(values):.0f} ms, n={len(values)}")


@pytest.fixture
def agent_pane(model):
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        place = AgentFolders(Path(folder) / "claude", model)
        place.folder.mkdir()
        prepare_home(place)
        yield ClaudePane(tmux, place, CLAUDE)


def test_turns_and_dialogs_are_detected(agent_pane, figures):
    agent_pane.start()
    recorder = SceneRecorder("1_turns", agent_pane, ADAPTER, figures)
    assert recorder.process.argv[0].endswith("/claude")
    recorder.record_scene("started", registry="idle", hook="idle", look="idle", rule="begun", state="idle")

    agent_pane.send_prompt("MODEL slow 2")
    recorder.record_scene(
        "running", registry="running", hook="running", transcript="running", look="running", state="running"
    )
    recorder.record_scene("completed", **TURN_ENDED, transcript="completed")

    agent_pane.send_prompt("MODEL shell touch made")
    recorder.record_scene("approval_asked", **APPROVAL_REQUESTED, rule="permission")
    agent_pane.press_until_answered(lambda screen: keyboard.find_answer_keys(screen, "allow"))
    recorder.record_scene("approval_given", **TURN_ENDED)
    assert (agent_pane.place.cwd / "made").exists()

    agent_pane.send_prompt(f"MODEL write {agent_pane.place.cwd}/other")
    recorder.record_scene("write_asked", **APPROVAL_REQUESTED, rule="permission")
    agent_pane.press_until_answered(lambda screen: keyboard.find_answer_keys(screen, "deny"))
    recorder.record_scene("approval_refused", registry="idle", transcript="idle", rule="interrupted", state="idle")
    assert not (agent_pane.place.cwd / "other").exists()

    agent_pane.send_prompt(QUESTION)
    waiting = dict.fromkeys(("registry", "hook", "look", "state"), "waiting_input")
    recorder.record_scene("question", **waiting, rule="question")
    agent_pane.press_until_answered(lambda screen: keyboard.find_option_keys(screen, "SQLite"))
    agent_pane.wait_for_text("→ SQLite")
    recorder.record_scene("question_answered", **TURN_ENDED)

    agent_pane.send_prompt("MODEL slow 20")
    wait_until(lambda: re.search(r"↓ [3-9] tokens", agent_pane.capture_text()))
    agent_pane.press(*keyboard.find_interrupt_keys(agent_pane.capture_screen()).keys)
    recorder.record_scene(
        "interrupted", registry="idle", hook="running", transcript="idle", rule="interrupted", state="idle"
    )

    agent_pane.send_command("/model")
    recorder.record_scene(
        "menu", registry="waiting_input", look="waiting_input", rule="dialog_open", state="waiting_input"
    )
    agent_pane.press("Escape")
    recorder.record_scene("menu_left", registry="idle", look="idle", state="idle")
    agent_pane.press("C-o")
    agent_pane.wait_for_text("Showing detailed transcript")
    recorder.record_scene("transcript_view", look="unknown", state="idle")
    agent_pane.press("C-o")
    agent_pane.wait_for_text("mode on")

    agent_pane.send_command("/exit")
    recorder.record_scene("quit", registry="down", look="unknown")
    wait_until(lambda: agent_pane.find_process() is None)


def test_background_work_is_a_running_state(agent_pane, figures):
    agent_pane.start()
    recorder = SceneRecorder("2_background", agent_pane, ADAPTER, figures)
    at_work = {"registry": "running", "hook": "completed", "look": "running", "state": "running", "subtasks": 1}
    agent_pane.send_prompt(BACKGROUND)
    recorder.record_scene("background_shell", **at_work, rule="shell_running")
    recorder.record_scene("background_shell_ended", **TURN_ENDED, subtasks=0)
    agent_pane.send_prompt(SUBAGENT)
    recorder.record_scene("subagent", **at_work, rule="agents_running")
    recorder.record_scene("subagent_ended", **TURN_ENDED, subtasks=0)


def test_hook_answers_and_plan_dialogs_are_detected(agent_pane, figures):
    agent_pane.start()
    recorder = SceneRecorder("3_answers", agent_pane, ADAPTER, figures)
    answer = agent_pane.place.folder / ANSWER_FILE
    answer.write_text(keyboard.format_hook_answer("deny", "Not now."))
    agent_pane.send_prompt("MODEL shell touch by_hook")
    agent_pane.wait_for_text("Denied by PermissionRequest hook")
    recorder.record_scene("hook_denied", **TURN_ENDED)
    assert not (agent_pane.place.cwd / "by_hook").exists()
    answer.write_text(keyboard.format_hook_answer("allow"))
    agent_pane.send_prompt("MODEL shell touch by_hook")
    agent_pane.wait_for_text("Allowed by PermissionRequest hook")
    recorder.record_scene("hook_allowed", **TURN_ENDED)
    assert (agent_pane.place.cwd / "by_hook").exists()
    answer.unlink()

    agent_pane.send_prompt("MODEL tool EnterPlanMode {}")
    recorder.record_scene("plan_mode", **TURN_ENDED)
    agent_pane.send_prompt('MODEL tool ExitPlanMode {"plan":"# Plan"}')
    recorder.record_scene("plan_asked", **APPROVAL_REQUESTED, rule="plan")
    assert keyboard.find_answer_keys(agent_pane.capture_screen(), "allow") is None
    agent_pane.press_until_answered(lambda screen: keyboard.find_answer_keys(screen, "deny"))
    recorder.record_scene("plan_refused", registry="idle", look="idle", state="idle")

    agent_pane.send_command("/compact")
    recorder.record_scene(
        "compacting", registry="running", hook="running", rule="compacting", state="running", compacting=True
    )
    recorder.record_scene("compacted", registry="idle", hook="idle", look="idle", state="idle", compacting=False)


def test_a_resumed_session_is_tracked_and_a_crash_leaves_no_agent(agent_pane, figures):
    agent_pane.start()
    first = SceneRecorder("4_first", agent_pane, ADAPTER, figures)
    agent_pane.send_prompt("MODEL text the moon is made of rock")
    first.record_scene("answered", **TURN_ENDED, transcript="completed")
    session = first.play.signals[-1].session

    agent_pane.run_beside("MODEL text a stranger in the same folder")
    first.collect_records()
    assert "a stranger in the same folder" in str([one.payload for one in first.play.signals])
    assert (first.play.state.value, get_own_sessions(first)) == ("completed", (session,))
    agent_pane.send_command("/exit")
    first.record_scene("left", registry="down")
    assert agent_pane.capture_text().count(session) == 1

    agent_pane.start("mode on", *ADAPTER.build_resume_command(session)[1:])
    resumed = SceneRecorder("5_again", agent_pane, ADAPTER, figures)
    resumed.record_scene("resumed", registry="idle", hook="idle", look="completed", state="idle")
    assert {one.session for one in resumed.play.signals if one.session} == {session}

    agent_pane.send_prompt("MODEL shell touch never")
    resumed.record_scene("before_crash", **APPROVAL_REQUESTED)
    os.kill(resumed.process.pid, signal.SIGKILL)
    agent_pane.wait_for_text("Killed")
    resumed.record_scene("crashed", look="unknown")
    assert agent_pane.find_process() is None


def test_errors_are_detected_and_retries_are_a_running_state(agent_pane, figures):
    agent_pane.start()
    recorder = SceneRecorder("6_errors", agent_pane, ADAPTER, figures)
    agent_pane.send_prompt("MODEL fail 401")
    recorder.record_scene("error_401", **FAILED, rule="login_needed", auth_needed=True)
    agent_pane.send_prompt("MODEL fail 429")
    recorder.record_scene("error_429", **FAILED, rule="api_error", auth_needed=False, usage_limited=False)
    agent_pane.send_prompt("MODEL fail 529")
    recorder.record_scene("error_529", **FAILED, rule="api_error")
    agent_pane.send_prompt("MODEL fail 500")
    recorder.record_scene("retrying", registry="running", hook="running", rule="retrying", state="running")
    recorder.record_scene("error_500", **FAILED, rule="api_error")


def test_a_usage_limit_has_a_reset_time(agent_pane, figures):
    agent_pane.program = SUBSCRIBED_CLAUDE
    agent_pane.start()
    recorder = SceneRecorder("7_limit", agent_pane, ADAPTER, figures)
    agent_pane.send_prompt("MODEL limit")
    recorder.record_scene("usage_limit", **FAILED, rule="usage_limit", usage_limited=True, resets=True)
    ends_at = recorder.play.state.flags.resets_at
    assert 2.9 * 3600 < (ends_at - agent_pane.capture_screen().at) / 10**9 < 3.1 * 3600
    assert ADAPTER.classify_screen(agent_pane.capture_screen()).flags.resets_at == ends_at


def test_startup_dialogs_are_detected_and_answered(agent_pane, figures):
    agent_pane.place.write_home_file("elsewhere/.claude.json", {"hasCompletedOnboarding": True, "theme": "dark"})
    agent_pane.program = replace(
        CLAUDE, env={**CLAUDE.env, "CLAUDE_CONFIG_DIR": str(agent_pane.place.home / "elsewhere")}
    )
    agent_pane.start("Quick safety check")
    recorder = SceneRecorder("8_trust", agent_pane, ADAPTER, figures)
    recorder.record_scene("trust_asked", look="waiting_approval", rule="trust_folder", state="unknown")
    assert keyboard.find_answer_keys(agent_pane.capture_screen(), "allow").keys == ("Down", "Enter")
    agent_pane.press_until_answered(
        lambda screen: (
            keyboard.find_answer_keys(screen, "allow")
            if ADAPTER.classify_screen(screen).rule_name == "trust_folder"
            else None
        )
    )
    recorder.record_scene("api_key_asked", look="waiting_approval", rule="use_api_key", state="unknown")
    agent_pane.press_until_answered(lambda screen: keyboard.find_answer_keys(screen, "allow"))
    recorder.record_scene("trusted", registry="idle", look="idle", state="idle")
    wait_until(lambda: keyboard.read_composer(agent_pane.capture_screen()) == "")


def get_own_sessions(recorder: SceneRecorder) -> tuple[str, ...]:
    """Return the sessions that are attributed to the agent."""
    return recorder.play.knowledge.roster.agents[recorder.play.runtime.id].sessions
