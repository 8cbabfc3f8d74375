"""The real Claude Code, driven in a real tmux against the scripted model: what it leaves behind is read as it is.

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

ENDED = {"registry": "idle", "hook": "completed", "look": "completed", "state": "completed"}
"""How the end of a turn is told."""
ASKED = dict.fromkeys(("registry", "hook", "look", "state"), "waiting_approval")
FAILED = {"registry": "idle", "hook": "error", "transcript": "error", "look": "error", "state": "error"}


@pytest.fixture(scope="module")
def model():
    with run_model_server() as address:
        yield address


@pytest.fixture(scope="module")
def figures():
    found = LatencyFigures()
    yield found
    for name in ("registry", "hook"):
        if values := getattr(found, name):
            print(f"\n{name}: median {statistics.median(values):.0f} ms, longest {max(values):.0f} ms, n={len(values)}")


@pytest.fixture
def stage(model):
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        place = AgentFolders(Path(folder) / "claude", model)
        place.folder.mkdir()
        prepare_home(place)
        yield ClaudePane(tmux, place, CLAUDE)


def test_its_turns_and_dialogs_are_known(stage, figures):
    stage.start()
    tape = SceneRecorder("1_turns", stage, ADAPTER, figures)
    assert tape.process.argv[0].endswith("/claude")
    tape.record_scene("started", registry="idle", hook="idle", look="idle", rule="begun", state="idle")

    stage.send_prompt("MODEL slow 2")
    tape.record_scene(
        "running", registry="running", hook="running", transcript="running", look="running", state="running"
    )
    tape.record_scene("completed", **ENDED, transcript="completed")

    stage.send_prompt("MODEL shell touch made")
    tape.record_scene("approval_asked", **ASKED, rule="permission")
    stage.press_until_answered(lambda screen: keyboard.find_answer_keys(screen, "allow"))
    tape.record_scene("approval_given", **ENDED)
    assert (stage.place.cwd / "made").exists()

    stage.send_prompt(f"MODEL write {stage.place.cwd}/other")
    tape.record_scene("write_asked", **ASKED, rule="permission")
    stage.press_until_answered(lambda screen: keyboard.find_answer_keys(screen, "deny"))
    tape.record_scene("approval_refused", registry="idle", transcript="idle", rule="interrupted", state="idle")
    assert not (stage.place.cwd / "other").exists()

    stage.send_prompt(QUESTION)
    waiting = dict.fromkeys(("registry", "hook", "look", "state"), "waiting_input")
    tape.record_scene("question", **waiting, rule="question")
    stage.press_until_answered(lambda screen: keyboard.find_option_keys(screen, "SQLite"))
    stage.wait_for_text("→ SQLite")
    tape.record_scene("question_answered", **ENDED)

    stage.send_prompt("MODEL slow 20")
    wait_until(lambda: re.search(r"↓ [3-9] tokens", stage.capture_text()))
    stage.press(*keyboard.find_interrupt_keys(stage.capture_screen()).keys)
    tape.record_scene(
        "interrupted", registry="idle", hook="running", transcript="idle", rule="interrupted", state="idle"
    )

    stage.send_command("/model")
    tape.record_scene("menu", registry="waiting_input", look="waiting_input", rule="dialog_open", state="waiting_input")
    stage.press("Escape")
    tape.record_scene("menu_left", registry="idle", look="idle", state="idle")
    stage.press("C-o")
    stage.wait_for_text("Showing detailed transcript")
    tape.record_scene("transcript_view", look="unknown", state="idle")
    stage.press("C-o")
    stage.wait_for_text("mode on")

    stage.send_command("/exit")
    tape.record_scene("quit", registry="down", look="unknown")
    wait_until(lambda: stage.find_process() is None)


def test_work_in_the_background_counts(stage, figures):
    stage.start()
    tape = SceneRecorder("2_background", stage, ADAPTER, figures)
    at_work = {"registry": "running", "hook": "completed", "look": "running", "state": "running", "subtasks": 1}
    stage.send_prompt(BACKGROUND)
    tape.record_scene("background_shell", **at_work, rule="shell_running")
    tape.record_scene("background_shell_ended", **ENDED, subtasks=0)
    stage.send_prompt(SUBAGENT)
    tape.record_scene("subagent", **at_work, rule="agents_running")
    tape.record_scene("subagent_ended", **ENDED, subtasks=0)


def test_hooks_answer_and_a_plan_is_asked_for(stage, figures):
    stage.start()
    tape = SceneRecorder("3_answers", stage, ADAPTER, figures)
    answer = stage.place.folder / ANSWER_FILE
    answer.write_text(keyboard.format_hook_answer("deny", "Not now."))
    stage.send_prompt("MODEL shell touch by_hook")
    stage.wait_for_text("Denied by PermissionRequest hook")
    tape.record_scene("hook_denied", **ENDED)
    assert not (stage.place.cwd / "by_hook").exists()
    answer.write_text(keyboard.format_hook_answer("allow"))
    stage.send_prompt("MODEL shell touch by_hook")
    stage.wait_for_text("Allowed by PermissionRequest hook")
    tape.record_scene("hook_allowed", **ENDED)
    assert (stage.place.cwd / "by_hook").exists()
    answer.unlink()

    stage.send_prompt("MODEL tool EnterPlanMode {}")
    tape.record_scene("plan_mode", **ENDED)
    stage.send_prompt('MODEL tool ExitPlanMode {"plan":"# Plan"}')
    tape.record_scene("plan_asked", **ASKED, rule="plan")
    assert keyboard.find_answer_keys(stage.capture_screen(), "allow") is None
    stage.press_until_answered(lambda screen: keyboard.find_answer_keys(screen, "deny"))
    tape.record_scene("plan_refused", registry="idle", look="idle", state="idle")

    stage.send_command("/compact")
    tape.record_scene(
        "compacting", registry="running", hook="running", rule="compacting", state="running", compacting=True
    )
    tape.record_scene("compacted", registry="idle", hook="idle", look="idle", state="idle", compacting=False)


def test_a_session_is_taken_up_again_and_a_crash_leaves_no_agent(stage, figures):
    stage.start()
    first = SceneRecorder("4_first", stage, ADAPTER, figures)
    stage.send_prompt("MODEL text the moon is made of rock")
    first.record_scene("answered", **ENDED, transcript="completed")
    session = first.play.signals[-1].session

    stage.run_beside("MODEL text a stranger in the same folder")
    first.collect_records()
    assert "a stranger in the same folder" in str([one.payload for one in first.play.signals])
    assert (first.play.state.value, sessions(first)) == ("completed", (session,))
    stage.send_command("/exit")
    first.record_scene("left", registry="down")
    assert stage.capture_text().count(session) == 1

    stage.start("mode on", *ADAPTER.build_resume_command(session)[1:])
    again = SceneRecorder("5_again", stage, ADAPTER, figures)
    again.record_scene("resumed", registry="idle", hook="idle", look="completed", state="idle")
    assert {one.session for one in again.play.signals if one.session} == {session}

    stage.send_prompt("MODEL shell touch never")
    again.record_scene("before_crash", **ASKED)
    os.kill(again.process.pid, signal.SIGKILL)
    stage.wait_for_text("Killed")
    again.record_scene("crashed", look="unknown")
    assert stage.find_process() is None


def test_errors_are_told_and_retries_are_work(stage, figures):
    stage.start()
    tape = SceneRecorder("6_errors", stage, ADAPTER, figures)
    stage.send_prompt("MODEL fail 401")
    tape.record_scene("error_401", **FAILED, rule="login_needed", auth_needed=True)
    stage.send_prompt("MODEL fail 429")
    tape.record_scene("error_429", **FAILED, rule="api_error", auth_needed=False, usage_limited=False)
    stage.send_prompt("MODEL fail 529")
    tape.record_scene("error_529", **FAILED, rule="api_error")
    stage.send_prompt("MODEL fail 500")
    tape.record_scene("retrying", registry="running", hook="running", rule="retrying", state="running")
    tape.record_scene("error_500", **FAILED, rule="api_error")


def test_a_usage_limit_tells_when_it_ends(stage, figures):
    stage.program = SUBSCRIBED_CLAUDE
    stage.start()
    tape = SceneRecorder("7_limit", stage, ADAPTER, figures)
    stage.send_prompt("MODEL limit")
    tape.record_scene("usage_limit", **FAILED, rule="usage_limit", usage_limited=True, resets=True)
    ends_at = tape.play.state.flags.resets_at
    assert 2.9 * 3600 < (ends_at - stage.capture_screen().at) / 10**9 < 3.1 * 3600
    assert ADAPTER.classify_screen(stage.capture_screen()).flags.resets_at == ends_at


def test_what_it_asks_before_it_begins_is_seen_and_answered(stage, figures):
    stage.place.write_home_file("elsewhere/.claude.json", {"hasCompletedOnboarding": True, "theme": "dark"})
    stage.program = replace(CLAUDE, env={**CLAUDE.env, "CLAUDE_CONFIG_DIR": str(stage.place.home / "elsewhere")})
    stage.start("Quick safety check")
    tape = SceneRecorder("8_trust", stage, ADAPTER, figures)
    tape.record_scene("trust_asked", look="waiting_approval", rule="trust_folder", state="unknown")
    assert keyboard.find_answer_keys(stage.capture_screen(), "allow").keys == ("Down", "Enter")
    stage.press_until_answered(
        lambda screen: (
            keyboard.find_answer_keys(screen, "allow")
            if ADAPTER.classify_screen(screen).rule_name == "trust_folder"
            else None
        )
    )
    tape.record_scene("api_key_asked", look="waiting_approval", rule="use_api_key", state="unknown")
    stage.press_until_answered(lambda screen: keyboard.find_answer_keys(screen, "allow"))
    tape.record_scene("trusted", registry="idle", look="idle", state="idle")
    wait_until(lambda: keyboard.read_composer(stage.capture_screen()) == "")


def sessions(tape: SceneRecorder) -> tuple[str, ...]:
    """Those that are taken for the agent's own."""
    return tape.play.knowledge.roster.agents[tape.play.runtime.id].sessions
