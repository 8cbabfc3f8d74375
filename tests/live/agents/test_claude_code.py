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

from termvisor.agents.adapters.claude_code import ADAPTER
from termvisor.agents.adapters.claude_code import keyboard as channel
from termvisor.testing.tmux import private_tmux, short_folder
from tests.live.agents.claude_stage import ANSWER, SUBSCRIBED, ClaudeStage, settle
from tests.live.agents.ears import Figures
from tests.live.agents.lab import CLAUDE, Workplace
from tests.live.agents.model.server import model_server
from tests.live.agents.tape import Tape
from tests.live.waiting import until

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
    with model_server() as address:
        yield address


@pytest.fixture(scope="module")
def figures():
    found = Figures()
    yield found
    for name in ("registry", "hook"):
        if values := getattr(found, name):
            print(f"\n{name}: median {statistics.median(values):.0f} ms, longest {max(values):.0f} ms, n={len(values)}")


@pytest.fixture
def stage(model):
    with short_folder() as folder, private_tmux(folder) as tmux:
        place = Workplace(Path(folder) / "claude", model)
        place.folder.mkdir()
        settle(place)
        yield ClaudeStage(tmux, place, CLAUDE)


def test_its_turns_and_dialogs_are_known(stage, figures):
    stage.start()
    tape = Tape("1_turns", stage, ADAPTER, figures)
    assert tape.process.argv[0].endswith("/claude")
    tape.scene("started", registry="idle", hook="idle", look="idle", rule="begun", state="idle")

    stage.prompt("MODEL slow 2")
    tape.scene("running", registry="running", hook="running", transcript="running", look="running", state="running")
    tape.scene("completed", **ENDED, transcript="completed")

    stage.prompt("MODEL shell touch made")
    tape.scene("approval_asked", **ASKED, rule="permission")
    stage.obey(lambda screen: channel.answer(screen, "allow"))
    tape.scene("approval_given", **ENDED)
    assert (stage.place.cwd / "made").exists()

    stage.prompt(f"MODEL write {stage.place.cwd}/other")
    tape.scene("write_asked", **ASKED, rule="permission")
    stage.obey(lambda screen: channel.answer(screen, "deny"))
    tape.scene("approval_refused", registry="idle", transcript="idle", rule="interrupted", state="idle")
    assert not (stage.place.cwd / "other").exists()

    stage.prompt(QUESTION)
    waiting = dict.fromkeys(("registry", "hook", "look", "state"), "waiting_input")
    tape.scene("question", **waiting, rule="question")
    stage.obey(lambda screen: channel.choose(screen, "SQLite"))
    stage.shows("→ SQLite")
    tape.scene("question_answered", **ENDED)

    stage.prompt("MODEL slow 20")
    until(lambda: re.search(r"↓ [3-9] tokens", stage.text()))
    stage.press(*channel.interrupt(stage.screen()).keys)
    tape.scene("interrupted", registry="idle", hook="running", transcript="idle", rule="interrupted", state="idle")

    stage.command("/model")
    tape.scene("menu", registry="waiting_input", look="waiting_input", rule="dialog_open", state="waiting_input")
    stage.press("Escape")
    tape.scene("menu_left", registry="idle", look="idle", state="idle")
    stage.press("C-o")
    stage.shows("Showing detailed transcript")
    tape.scene("transcript_view", look="unknown", state="idle")
    stage.press("C-o")
    stage.shows("mode on")

    stage.command(channel.QUIT_WORDS)
    tape.scene("quit", registry="down", look="unknown")
    until(lambda: stage.recognised() is None)


def test_work_in_the_background_counts(stage, figures):
    stage.start()
    tape = Tape("2_background", stage, ADAPTER, figures)
    at_work = {"registry": "running", "hook": "completed", "look": "running", "state": "running", "subtasks": 1}
    stage.prompt(BACKGROUND)
    tape.scene("background_shell", **at_work, rule="shell_running")
    tape.scene("background_shell_ended", **ENDED, subtasks=0)
    stage.prompt(SUBAGENT)
    tape.scene("subagent", **at_work, rule="agents_running")
    tape.scene("subagent_ended", **ENDED, subtasks=0)


def test_hooks_answer_and_a_plan_is_asked_for(stage, figures):
    stage.start()
    tape = Tape("3_answers", stage, ADAPTER, figures)
    answer = stage.place.folder / ANSWER
    answer.write_text(channel.hook_answer("deny", "Not now."))
    stage.prompt("MODEL shell touch by_hook")
    stage.shows("Denied by PermissionRequest hook")
    tape.scene("hook_denied", **ENDED)
    assert not (stage.place.cwd / "by_hook").exists()
    answer.write_text(channel.hook_answer("allow"))
    stage.prompt("MODEL shell touch by_hook")
    stage.shows("Allowed by PermissionRequest hook")
    tape.scene("hook_allowed", **ENDED)
    assert (stage.place.cwd / "by_hook").exists()
    answer.unlink()

    stage.prompt("MODEL tool EnterPlanMode {}")
    tape.scene("plan_mode", **ENDED)
    stage.prompt('MODEL tool ExitPlanMode {"plan":"# Plan"}')
    tape.scene("plan_asked", **ASKED, rule="plan")
    assert channel.answer(stage.screen(), "allow") is None
    stage.obey(lambda screen: channel.answer(screen, "deny"))
    tape.scene("plan_refused", registry="idle", look="idle", state="idle")

    stage.command("/compact")
    tape.scene("compacting", registry="running", hook="running", rule="compacting", state="running", compacting=True)
    tape.scene("compacted", registry="idle", hook="idle", look="idle", state="idle", compacting=False)


def test_a_session_is_taken_up_again_and_a_crash_leaves_no_agent(stage, figures):
    stage.start()
    first = Tape("4_first", stage, ADAPTER, figures)
    stage.prompt("MODEL text the moon is made of rock")
    first.scene("answered", **ENDED, transcript="completed")
    session = first.play.signals[-1].session

    stage.ask_beside("MODEL text a stranger in the same folder")
    first.listen()
    assert "a stranger in the same folder" in str([one.payload for one in first.play.signals])
    assert (first.play.state.value, sessions(first)) == ("completed", (session,))
    stage.command(channel.QUIT_WORDS)
    first.scene("left", registry="down")
    assert stage.text().count(session) == 1

    stage.start("mode on", *ADAPTER.resume_command(session)[1:])
    again = Tape("5_again", stage, ADAPTER, figures)
    again.scene("resumed", registry="idle", hook="idle", look="completed", state="idle")
    assert {one.session for one in again.play.signals if one.session} == {session}

    stage.prompt("MODEL shell touch never")
    again.scene("before_crash", **ASKED)
    os.kill(again.process.pid, signal.SIGKILL)
    stage.shows("Killed")
    again.scene("crashed", look="unknown")
    assert stage.recognised() is None


def test_errors_are_told_and_retries_are_work(stage, figures):
    stage.start()
    tape = Tape("6_errors", stage, ADAPTER, figures)
    stage.prompt("MODEL fail 401")
    tape.scene("error_401", **FAILED, rule="login_needed", auth_needed=True)
    stage.prompt("MODEL fail 429")
    tape.scene("error_429", **FAILED, rule="api_error", auth_needed=False, usage_limited=False)
    stage.prompt("MODEL fail 529")
    tape.scene("error_529", **FAILED, rule="api_error")
    stage.prompt("MODEL fail 500")
    tape.scene("retrying", registry="running", hook="running", rule="retrying", state="running")
    tape.scene("error_500", **FAILED, rule="api_error")


def test_a_usage_limit_tells_when_it_ends(stage, figures):
    stage.program = SUBSCRIBED
    stage.start()
    tape = Tape("7_limit", stage, ADAPTER, figures)
    stage.prompt("MODEL limit")
    tape.scene("usage_limit", **FAILED, rule="usage_limit", usage_limited=True, resets=True)
    ends_at = tape.play.state.flags.resets_at
    assert 2.9 * 3600 < (ends_at - stage.screen().at) / 10**9 < 3.1 * 3600
    assert ADAPTER.look(stage.screen()).flags.resets_at == ends_at


def test_what_it_asks_before_it_begins_is_seen_and_answered(stage, figures):
    stage.place.write("elsewhere/.claude.json", {"hasCompletedOnboarding": True, "theme": "dark"})
    stage.program = replace(CLAUDE, env={**CLAUDE.env, "CLAUDE_CONFIG_DIR": str(stage.place.home / "elsewhere")})
    stage.start("Quick safety check")
    tape = Tape("8_trust", stage, ADAPTER, figures)
    tape.scene("trust_asked", look="waiting_approval", rule="trust_folder", state="unknown")
    assert channel.answer(stage.screen(), "allow").keys == ("Down", "Enter")
    stage.obey(lambda screen: channel.answer(screen, "allow") if ADAPTER.look(screen).name == "trust_folder" else None)
    tape.scene("api_key_asked", look="waiting_approval", rule="use_api_key", state="unknown")
    stage.obey(lambda screen: channel.answer(screen, "allow"))
    tape.scene("trusted", registry="idle", look="idle", state="idle")
    until(lambda: channel.is_composer_empty(stage.screen()))


def sessions(tape: Tape) -> tuple[str, ...]:
    """Those that are taken for the agent's own."""
    return tape.play.knowledge.roster.tenants[tape.play.runtime.id].sessions
