"""Gemini, opencode and Copilot, driven in a real tmux against the scripted model: what they leave is read as it is.

`RECORD=1` writes every scene to tests/recordings, where the unit tests replay them.
"""

import json
import os
import signal
import socket
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from termvisor.agents.adapters import copilot, gemini, opencode
from termvisor.agents.adapters.copilot import keyboard as copilot_keyboard
from termvisor.agents.adapters.gemini import keyboard as gemini_keyboard
from termvisor.agents.adapters.opencode import keyboard as opencode_keyboard
from termvisor.agents.adapters.opencode.server_client import session_control
from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from tests.live.agents.agent_pane import AgentPane
from tests.live.agents.agent_programs import COPILOT, GEMINI, OPENCODE, AgentFolders
from tests.live.agents.hook_setup import ANSWER_FILE, prepare_home
from tests.live.agents.model.server import run_model_server
from tests.live.agents.scene_recorder import SceneRecorder
from tests.live.polling import wait_until
from tests.recordings.scene import resolve_state_with_screen

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

LONG = "until [ -e go ]; do sleep 0.2; done"
"""A command that runs until it is let go."""
RUNS = dict.fromkeys(("look", "state"), "running")
ASKS = dict.fromkeys(("hook", "look", "state"), "waiting_approval")
DONE = dict.fromkeys(("hook", "look", "state"), "completed")


@pytest.fixture(scope="module")
def model():
    with run_model_server() as address:
        yield address


@pytest.fixture
def stage(model, request):
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        place = AgentFolders(Path(folder) / "agent", model)
        place.folder.mkdir()
        prepare_home(request.param, place)
        yield AgentPane(tmux, place, request.param)


@pytest.mark.parametrize("stage", [GEMINI], indirect=True)
def test_gemini(stage):
    stage.start("Type your message")
    tape = SceneRecorder("1_all", stage, gemini.ADAPTER)
    assert "--max-old-space-size" in " ".join(tape.process.argv), "the inner one of the two"
    tape.record_scene("started", hook="idle", title="idle", look="idle", rule="at_rest", state="idle")

    stage.send_prompt("MODEL slow 3")
    tape.record_scene("running", hook="running", title="running", **RUNS, rule="working")
    tape.record_scene("completed", **DONE, title="idle", notification="completed", rule="answered")

    stage.send_prompt("MODEL shell touch made")
    asked = {**ASKS, "title": "waiting_approval", "notification": "waiting_approval", "rule": "approval_asked"}
    tape.record_scene("approval_asked", **asked)
    tape.press_until_answered(lambda screen: gemini_keyboard.find_answer_keys(screen, "allow"))
    tape.record_scene("approval_given", **DONE, title="idle")
    assert (stage.place.cwd / "made").exists()
    stage.send_prompt("MODEL write other")
    tape.record_scene("write_asked", **asked)
    tape.press_until_answered(lambda screen: gemini_keyboard.find_answer_keys(screen, "deny"))
    tape.record_scene("approval_refused", title="idle", look="idle", rule="cancelled")
    assert not (stage.place.cwd / "other").exists()

    answer = stage.place.folder / ANSWER_FILE
    answer.write_text(gemini_keyboard.format_hook_answer("deny", "Not now."))
    stage.send_prompt("MODEL shell touch by_hook")
    tape.record_scene("hook_denied", **DONE)
    answer.unlink()
    assert not (stage.place.cwd / "by_hook").exists()

    stage.send_prompt("MODEL slow 20")
    stage.wait_for_text("✦ thinking aloud about")
    tape.press_until_answered(gemini_keyboard.find_interrupt_keys)
    tape.record_scene("interrupted", title="idle", look="idle", rule="cancelled")

    stage.send_prompt("MODEL fail 401")
    tape.record_scene("login_refused", hook="unknown", title="idle", look="error", rule="login_refused")
    assert resolve_state_with_screen(tape.play, stage.capture_screen()).value == "error"
    stage.send_prompt("MODEL limit")
    tape.record_scene(
        "usage_limit_asked", hook="running", title="running", look="waiting_input", rule="usage_limit_asked"
    )
    tape.press_until_answered(lambda shown: gemini_keyboard.find_option_keys(shown, "Stop"))
    tape.record_scene("usage_limit_reached", hook="unknown", title="idle", look="error", rule="usage_limit_reached")

    stage.send_prompt("/compress")
    tape.record_scene("compacted", hook="running", look="idle", rule="compressed", state="running", compacting=True)
    again = taken_up(tape, "/quit", left="To resume this session", begun="Type your message")
    again.record_scene("resumed", hook="idle", title="idle", look="idle", state="idle")
    assert again.play.signals[-1].session in ("", session_of(tape))


@pytest.mark.parametrize("stage", [OPENCODE], indirect=True)
def test_opencode(stage):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    stage.start("Ask anything", "--port", str(port))
    tape = SceneRecorder("1_all", stage, opencode.ADAPTER)
    tape.record_scene("started", hook="idle", look="idle", rule="at_rest", state="idle")

    stage.send_prompt("MODEL slow 4")
    tape.record_scene("running", hook="running", **RUNS, rule="working")
    tape.record_scene("completed", **DONE, rule="answered")

    stage.send_prompt("MODEL shell touch made")
    tape.record_scene("approval_asked", **ASKS, rule="permission_asked")
    assert opencode_keyboard.find_answer_keys(stage.capture_screen(), "allow") is None, (
        "which choice is marked, colours alone tell"
    )
    request = str(next(one.payload["request"] for one in reversed(tape.play.signals) if "request" in one.payload))
    call(f"http://127.0.0.1:{port}", session_control.build_permission_reply(request, "allow"))
    tape.record_scene("approval_given", **DONE)
    assert (stage.place.cwd / "made").exists()
    stage.send_prompt("MODEL shell touch other")
    tape.record_scene("approval_asked_again", **ASKS)
    tape.press_until_answered(lambda screen: opencode_keyboard.find_answer_keys(screen, "deny"))
    tape.record_scene("approval_refused", hook="idle", look="idle", state="idle")
    assert not (stage.place.cwd / "other").exists()

    stage.send_prompt(
        'MODEL tool question {"questions":[{"question":"Which database?","header":"DB","options":'
        '[{"label":"pg","description":"large"},{"label":"lite","description":"small"}]}]}'
    )
    waits = dict.fromkeys(("hook", "look", "state"), "waiting_input")
    tape.record_scene("question_asked", **waits, rule="question_asked")
    stage.press("Escape")
    tape.record_scene("question_dismissed", hook="idle", look="idle", state="idle")
    stage.send_prompt('MODEL tool task {"description":"a part","prompt":"say hello","subagent_type":"general"}')
    tape.record_scene("subtask", **DONE, subtasks=0)
    assert {signal.kind for signal in tape.play.signals} >= {"task_began", "task_ended"}

    stage.send_prompt("MODEL slow 20")
    stage.wait_for_text("thinking aloud about")
    tape.press_until_answered(opencode_keyboard.find_interrupt_keys)
    tape.record_scene("interrupted", hook="idle", look="idle", rule="interrupted", state="idle")
    stage.send_prompt("MODEL fail 401")
    tape.record_scene(
        "login_refused", hook="error", look="error", rule="login_refused", state="error", auth_needed=True
    )
    stage.send_prompt("MODEL limit")
    tape.record_scene("usage_limit", hook="running", rule="usage_limit_retried", state="running", usage_limited=True)
    tape.press_until_answered(opencode_keyboard.find_interrupt_keys)
    tape.record_scene("usage_limit_left", hook="idle", look="idle", state="idle", usage_limited=True)

    stage.send_prompt("/compact")
    tape.record_scene("compacting", hook="running", rule="compacting", state="running", compacting=True)
    tape.record_scene("compacted", hook="completed", look="idle", rule="compacted", compacting=False)
    again = taken_up(tape, "/exit", left="opencode -s ses_", begun="ctrl+p commands")
    again.record_scene("resumed", hook="idle", look="idle", state="idle")
    stage.send_prompt("MODEL text here again")
    again.record_scene("resumed_and_answered", **DONE)
    assert again.play.signals[-1].session == session_of(tape)


@pytest.mark.parametrize("stage", [COPILOT], indirect=True)
def test_copilot(stage):
    stage.start("Interactive")
    tape = SceneRecorder("1_all", stage, copilot.ADAPTER)
    tape.record_scene("started", look="idle", rule="at_rest")

    stage.send_prompt("MODEL slow 3")
    tape.record_scene("running", session_file="running", hook="running", **RUNS, rule="working")
    tape.record_scene("completed", session_file="completed", **DONE, rule="answered")

    stage.send_prompt("MODEL shell touch made")
    tape.record_scene("approval_asked", session_file="waiting_approval", **ASKS, rule="approval_asked")
    tape.press_until_answered(lambda screen: copilot_keyboard.find_answer_keys(screen, "allow"))
    tape.record_scene("approval_given", session_file="completed", **DONE)
    assert (stage.place.cwd / "made").exists()
    stage.send_prompt("MODEL write other")
    tape.record_scene("write_asked", session_file="waiting_approval", **ASKS, rule="approval_asked")
    tape.press_until_answered(lambda screen: copilot_keyboard.find_answer_keys(screen, "deny"))
    tape.record_scene("approval_refused", session_file="idle", look="idle", rule="cancelled", state="idle")
    assert not (stage.place.cwd / "other").exists()

    answer = stage.place.folder / ANSWER_FILE
    answer.write_text(copilot_keyboard.format_hook_answer("deny", "Not now."))
    stage.send_prompt("MODEL shell touch by_hook")
    tape.record_scene("hook_denied", session_file="completed", look="completed", state="completed")
    assert not (stage.place.cwd / "by_hook").exists()
    answer.write_text(copilot_keyboard.format_hook_answer("allow"))
    stage.send_prompt("MODEL shell touch by_hook")
    tape.record_scene("hook_allowed", session_file="completed", look="completed", state="completed")
    assert (stage.place.cwd / "by_hook").exists()
    answer.unlink()

    stage.send_prompt(
        'MODEL tool ask_user {"message":"Which database?","requestedSchema":{"type":"object","properties":'
        '{"db":{"type":"string","title":"Database","enum":["pg","lite"]}},"required":["db"]}}'
    )
    waits = dict.fromkeys(("session_file", "hook", "look", "state"), "waiting_input")
    tape.record_scene("question_asked", **waits, rule="question_asked")
    stage.press("Escape")
    tape.record_scene("question_dismissed", session_file="completed", look="completed", state="completed")
    stage.send_prompt(
        'MODEL tool task {"description":"a part","prompt":"say hello","agent_type":"explore","name":"part"}'
    )
    tape.record_scene("subtask", session_file="completed", look="completed", state="completed", subtasks=0)
    assert {signal.kind for signal in tape.play.signals} >= {"task_began", "task_ended"}

    stage.send_prompt("MODEL slow 20")
    stage.wait_for_text("thinking aloud about")
    tape.press_until_answered(copilot_keyboard.find_interrupt_keys)
    tape.record_scene("interrupted", session_file="idle", look="idle", rule="cancelled", state="idle")
    stage.send_prompt("MODEL fail 401")
    refused = {"session_file": "error", "look": "error", "rule": "login_refused", "state": "error"}
    tape.record_scene("login_refused", **refused, auth_needed=True)
    stage.send_prompt("MODEL limit")
    tape.record_scene("usage_limit", hook="running", look="running", state="running", usage_limited=True, resets=True)
    tape.press_until_answered(copilot_keyboard.find_interrupt_keys)
    tape.record_scene("usage_limit_left", session_file="idle", look="idle", state="idle")

    stage.send_prompt("/compact")
    tape.record_scene("compacted", session_file="idle", hook="running", look="idle", rule="compacted", state="idle")
    again = taken_up(tape, "/exit", left="copilot --resume=", begun="Interactive")
    again.record_scene("resumed", look="idle")
    stage.send_prompt("MODEL text here again")
    again.record_scene("resumed_and_answered", session_file="completed", look="completed", state="completed")
    assert again.play.signals[-1].session == session_of(tape)


@pytest.mark.parametrize("stage", [GEMINI], indirect=True)
def test_gemini_where_nobody_trusts(stage):
    (stage.place.home / ".gemini/trustedFolders.json").unlink()
    stage.start("Do you trust the files")
    first = SceneRecorder("3_untrusted", stage, gemini.ADAPTER)
    first.record_scene("trust_asked", title="idle", look="waiting_approval", rule="folder_not_trusted")
    assert resolve_state_with_screen(first.play, stage.capture_screen()).value == "waiting_approval", (
        "though its title says: ready"
    )
    # A second Enter closes the dialog before Gemini starts anew, and then it never does.
    first.press_once(lambda screen: gemini_keyboard.find_option_keys(screen, "Trust folder (work)"))
    stage.wait_for_text("Type your message")
    wait_until(lambda: (now := first.find_process()) and now.pid != first.process.pid, timeout_s=60)
    tape = SceneRecorder("4_trusted", stage, gemini.ADAPTER)
    tape.record_scene("trusted", hook="idle", title="idle", look="idle", state="idle")

    questions = '{"questions":[{"question":"Which one","header":"DB","type":"choice","options":[OPTIONS]}]}'
    options = '{"label":"pg","description":"large"},{"label":"lite","description":"small"}'
    stage.send_prompt("MODEL tool ask_user " + questions.replace("OPTIONS", options))
    asked = dict.fromkeys(("hook", "look"), "waiting_input")
    tape.record_scene("question_asked", **asked, title="waiting_approval", rule="question_asked")
    assert resolve_state_with_screen(tape.play, stage.capture_screen()).value == "waiting_input", (
        "whichever of the two spoke first"
    )
    tape.press_until_answered(lambda screen: gemini_keyboard.find_option_keys(screen, "lite"))
    tape.record_scene("question_answered", **DONE, title="idle", rule="answered")

    stage.send_prompt(
        f'MODEL tool run_shell_command {{"command":"{LONG}","is_background":true,"description":"A long one"}}'
    )
    tape.wait_for_meaning(rule="approval_asked")
    tape.press_until_answered(lambda screen: gemini_keyboard.find_answer_keys(screen, "allow"))
    tape.record_scene("background_process", hook="completed", title="idle", look="running", rule="background_process")
    seen = resolve_state_with_screen(tape.play, stage.capture_screen())
    assert (seen.value, seen.flags.subtasks) == ("running", 1)
    (stage.place.cwd / "go").touch()
    tape.record_scene("background_process_ended", look="completed", rule="answered")

    for status in (429, 500):
        stage.send_prompt(f"MODEL fail {status}")
        tape.record_scene(f"retrying_{status}", hook="running", title="running", **RUNS, rule="working")
        tape.press_until_answered(gemini_keyboard.find_interrupt_keys)
        tape.wait_for_meaning(title="idle", look="idle", rule="cancelled")
    stage.send_prompt("MODEL fail 400")
    tape.record_scene("error_400", hook="unknown", title="idle", look="error", rule="request_failed")
    crashed(tape)  # not recorded: what it leaves on the screen looks as if it lived


@pytest.mark.parametrize("stage", [OPENCODE], indirect=True)
def test_opencode_in_trouble(stage):
    stage.start("Ask anything")
    tape = SceneRecorder("3_trouble", stage, opencode.ADAPTER)
    for status in (429, 500):
        tape.wait_for_meaning(look="idle")
        stage.send_prompt(f"MODEL fail {status}")
        tape.record_scene(f"retrying_{status}", hook="running", **RUNS, rule="retrying")
        tape.press_until_answered(opencode_keyboard.find_interrupt_keys)
        tape.wait_for_meaning(hook="idle", look="idle")
    stage.send_prompt("MODEL fail 400")
    tape.record_scene("error_400", hook="error", look="error", rule="request_failed", state="error")
    crashed(tape)
    tape.record_scene("killed", look="unknown")


@pytest.mark.parametrize("stage", [COPILOT], indirect=True)
def test_copilot_where_nobody_trusts(stage):
    for name in ("settings", "config"):
        stage.place.write_home_file(f".copilot/{name}.json", {"banner": "never"})
    stage.start("Do you trust the files")
    tape = SceneRecorder("3_untrusted", stage, copilot.ADAPTER)
    tape.record_scene("trust_asked", look="waiting_approval", rule="folder_not_trusted")
    assert resolve_state_with_screen(tape.play, stage.capture_screen()).value == "waiting_approval"
    tape.press_until_answered(lambda screen: copilot_keyboard.find_answer_keys(screen, "allow"))
    tape.record_scene("trusted", look="idle", rule="at_rest")

    stage.send_prompt(f'MODEL tool bash {{"command":"{LONG}","description":"A long command","mode":"async"}}')
    tape.wait_for_meaning(session_file="waiting_approval", rule="approval_asked")
    tape.press_until_answered(lambda screen: copilot_keyboard.find_answer_keys(screen, "allow"))
    tape.record_scene("background_shell", session_file="completed", look="running", state="running", subtasks=1)
    (stage.place.cwd / "go").touch()
    tape.record_scene(
        "background_shell_ended", session_file="completed", look="completed", state="completed", subtasks=0
    )

    stage.send_prompt("MODEL fail 500")
    tape.record_scene("retrying", **RUNS, rule="retrying")
    tape.record_scene("error_500", session_file="error", look="error", rule="request_failed", state="error")
    crashed(tape)
    tape.record_scene("killed", look="unknown")


def crashed(tape: SceneRecorder) -> None:
    """It is killed, and leaves its last screen behind."""
    os.kill(tape.process.pid, signal.SIGKILL)
    wait_until(lambda: tape.find_process() is None)


def taken_up(tape: SceneRecorder, quit_words: str, *, left: str, begun: str) -> SceneRecorder:
    """It leaves by its own command, and its session is taken up in the same place."""
    tape.agent_pane.send_prompt(quit_words)
    tape.agent_pane.wait_for_text(left)
    tape.record_scene("quit", look="unknown")
    wait_until(lambda: tape.find_process() is None)
    tape.agent_pane.start(begun, *tape.adapter.build_resume_command(session_of(tape))[1:])
    return SceneRecorder("2_resumed", tape.agent_pane, tape.adapter)


def session_of(tape: SceneRecorder) -> str:
    """The one that it began with."""
    return next(signal.session for signal in tape.play.signals if signal.session)


def call(server: str, wanted: session_control.HttpRequest | None) -> None:
    assert wanted is not None
    path, body = wanted
    data = json.dumps(body).encode()
    headers = {"content-type": "application/json"}
    with urlopen(Request(server + path, data, headers, method="POST"), timeout=10) as reply:
        assert reply.status < 300
