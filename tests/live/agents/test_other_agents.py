"""Gemini, opencode and Copilot in a real tmux with the scripted model: records and screens are read correctly.

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

LONG_COMMAND = "until [ -e go ]; do sleep 0.2; done"
"""A command that runs until the file `go` exists."""
RUNNING = dict.fromkeys(("look", "state"), "running")
APPROVAL_REQUESTED = dict.fromkeys(("hook", "look", "state"), "waiting_approval")
COMPLETED = dict.fromkeys(("hook", "look", "state"), "completed")


@pytest.fixture(scope="module")
def model():
    with run_model_server() as address:
        yield address


@pytest.fixture
def agent_pane(model, request):
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        place = AgentFolders(Path(folder) / "agent", model)
        place.folder.mkdir()
        prepare_home(request.param, place)
        yield AgentPane(tmux, place, request.param)


@pytest.mark.parametrize("agent_pane", [GEMINI], indirect=True)
def test_gemini_states_are_detected(agent_pane):
    agent_pane.start("Type your message")
    recorder = SceneRecorder("1_all", agent_pane, gemini.ADAPTER)
    assert "--max-old-space-size" in " ".join(recorder.process.argv), "the inner one of the two"
    recorder.record_scene("started", hook="idle", title="idle", look="idle", rule="at_rest", state="idle")

    agent_pane.send_prompt("MODEL slow 3")
    recorder.record_scene("running", hook="running", title="running", **RUNNING, rule="working")
    recorder.record_scene("completed", **COMPLETED, title="idle", notification="completed", rule="answered")

    agent_pane.send_prompt("MODEL shell touch made")
    asked = {
        **APPROVAL_REQUESTED,
        "title": "waiting_approval",
        "notification": "waiting_approval",
        "rule": "approval_asked",
    }
    recorder.record_scene("approval_asked", **asked)
    recorder.press_until_answered(lambda screen: gemini_keyboard.find_answer_keys(screen, "allow"))
    recorder.record_scene("approval_given", **COMPLETED, title="idle")
    assert (agent_pane.place.cwd / "made").exists()
    agent_pane.send_prompt("MODEL write other")
    recorder.record_scene("write_asked", **asked)
    recorder.press_until_answered(lambda screen: gemini_keyboard.find_answer_keys(screen, "deny"))
    recorder.record_scene("approval_refused", title="idle", look="idle", rule="cancelled")
    assert not (agent_pane.place.cwd / "other").exists()

    answer = agent_pane.place.folder / ANSWER_FILE
    answer.write_text(gemini_keyboard.format_hook_answer("deny", "Not now."))
    agent_pane.send_prompt("MODEL shell touch by_hook")
    recorder.record_scene("hook_denied", **COMPLETED)
    answer.unlink()
    assert not (agent_pane.place.cwd / "by_hook").exists()

    agent_pane.send_prompt("MODEL slow 20")
    agent_pane.wait_for_text("✦ thinking aloud about")
    recorder.press_until_answered(gemini_keyboard.find_interrupt_keys)
    recorder.record_scene("interrupted", title="idle", look="idle", rule="cancelled")

    agent_pane.send_prompt("MODEL fail 401")
    recorder.record_scene("login_refused", hook="unknown", title="idle", look="error", rule="login_refused")
    assert resolve_state_with_screen(recorder.play, agent_pane.capture_screen()).value == "error"
    agent_pane.send_prompt("MODEL limit")
    recorder.record_scene(
        "usage_limit_asked", hook="running", title="running", look="waiting_input", rule="usage_limit_asked"
    )
    recorder.press_until_answered(lambda shown: gemini_keyboard.find_option_keys(shown, "Stop"))
    recorder.record_scene("usage_limit_reached", hook="unknown", title="idle", look="error", rule="usage_limit_reached")

    agent_pane.send_prompt("/compress")
    recorder.record_scene("compacted", hook="running", look="idle", rule="compressed", state="running", compacting=True)
    resumed = quit_and_resume(recorder, "/quit", left="To resume this session", begun="Type your message")
    resumed.record_scene("resumed", hook="idle", title="idle", look="idle", state="idle")
    assert resumed.play.signals[-1].session in ("", get_first_session(recorder))


@pytest.mark.parametrize("agent_pane", [OPENCODE], indirect=True)
def test_opencode_states_are_detected(agent_pane):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    agent_pane.start("Ask anything", "--port", str(port))
    recorder = SceneRecorder("1_all", agent_pane, opencode.ADAPTER)
    recorder.record_scene("started", hook="idle", look="idle", rule="at_rest", state="idle")

    agent_pane.send_prompt("MODEL slow 4")
    recorder.record_scene("running", hook="running", **RUNNING, rule="working")
    recorder.record_scene("completed", **COMPLETED, rule="answered")

    agent_pane.send_prompt("MODEL shell touch made")
    recorder.record_scene("approval_asked", **APPROVAL_REQUESTED, rule="permission_asked")
    assert opencode_keyboard.find_answer_keys(agent_pane.capture_screen(), "allow") is None, (
        "only colours mark the selected choice"
    )
    request = str(next(one.payload["request"] for one in reversed(recorder.play.signals) if "request" in one.payload))
    post_request(f"http://127.0.0.1:{port}", session_control.build_permission_reply(request, "allow"))
    recorder.record_scene("approval_given", **COMPLETED)
    assert (agent_pane.place.cwd / "made").exists()
    agent_pane.send_prompt("MODEL shell touch other")
    recorder.record_scene("approval_asked_again", **APPROVAL_REQUESTED)
    recorder.press_until_answered(lambda screen: opencode_keyboard.find_answer_keys(screen, "deny"))
    recorder.record_scene("approval_refused", hook="idle", look="idle", state="idle")
    assert not (agent_pane.place.cwd / "other").exists()

    agent_pane.send_prompt(
        'MODEL tool question {"questions":[{"question":"Which database?","header":"DB","options":'
        '[{"label":"pg","description":"large"},{"label":"lite","description":"small"}]}]}'
    )
    waiting = dict.fromkeys(("hook", "look", "state"), "waiting_input")
    recorder.record_scene("question_asked", **waiting, rule="question_asked")
    agent_pane.press("Escape")
    recorder.record_scene("question_dismissed", hook="idle", look="idle", state="idle")
    agent_pane.send_prompt('MODEL tool task {"description":"a part","prompt":"say hello","subagent_type":"general"}')
    recorder.record_scene("subtask", **COMPLETED, subtasks=0)
    assert {signal.kind for signal in recorder.play.signals} >= {"task_began", "task_ended"}

    agent_pane.send_prompt("MODEL slow 20")
    agent_pane.wait_for_text("thinking aloud about")
    recorder.press_until_answered(opencode_keyboard.find_interrupt_keys)
    recorder.record_scene("interrupted", hook="idle", look="idle", rule="interrupted", state="idle")
    agent_pane.send_prompt("MODEL fail 401")
    recorder.record_scene(
        "login_refused", hook="error", look="error", rule="login_refused", state="error", auth_needed=True
    )
    agent_pane.send_prompt("MODEL limit")
    recorder.record_scene(
        "usage_limit", hook="running", rule="usage_limit_retried", state="running", usage_limited=True
    )
    recorder.press_until_answered(opencode_keyboard.find_interrupt_keys)
    recorder.record_scene("usage_limit_left", hook="idle", look="idle", state="idle", usage_limited=True)

    agent_pane.send_prompt("/compact")
    recorder.record_scene("compacting", hook="running", rule="compacting", state="running", compacting=True)
    recorder.record_scene("compacted", hook="completed", look="idle", rule="compacted", compacting=False)
    resumed = quit_and_resume(recorder, "/exit", left="opencode -s ses_", begun="ctrl+p commands")
    resumed.record_scene("resumed", hook="idle", look="idle", state="idle")
    agent_pane.send_prompt("MODEL text here again")
    resumed.record_scene("resumed_and_answered", **COMPLETED)
    assert resumed.play.signals[-1].session == get_first_session(recorder)


@pytest.mark.parametrize("agent_pane", [COPILOT], indirect=True)
def test_copilot_states_are_detected(agent_pane):
    agent_pane.start("Interactive")
    recorder = SceneRecorder("1_all", agent_pane, copilot.ADAPTER)
    recorder.record_scene("started", look="idle", rule="at_rest")

    agent_pane.send_prompt("MODEL slow 3")
    recorder.record_scene("running", session_file="running", hook="running", **RUNNING, rule="working")
    recorder.record_scene("completed", session_file="completed", **COMPLETED, rule="answered")

    agent_pane.send_prompt("MODEL shell touch made")
    recorder.record_scene(
        "approval_asked", session_file="waiting_approval", **APPROVAL_REQUESTED, rule="approval_asked"
    )
    recorder.press_until_answered(lambda screen: copilot_keyboard.find_answer_keys(screen, "allow"))
    recorder.record_scene("approval_given", session_file="completed", **COMPLETED)
    assert (agent_pane.place.cwd / "made").exists()
    agent_pane.send_prompt("MODEL write other")
    recorder.record_scene("write_asked", session_file="waiting_approval", **APPROVAL_REQUESTED, rule="approval_asked")
    recorder.press_until_answered(lambda screen: copilot_keyboard.find_answer_keys(screen, "deny"))
    recorder.record_scene("approval_refused", session_file="idle", look="idle", rule="cancelled", state="idle")
    assert not (agent_pane.place.cwd / "other").exists()

    answer = agent_pane.place.folder / ANSWER_FILE
    answer.write_text(copilot_keyboard.format_hook_answer("deny", "Not now."))
    agent_pane.send_prompt("MODEL shell touch by_hook")
    recorder.record_scene("hook_denied", session_file="completed", look="completed", state="completed")
    assert not (agent_pane.place.cwd / "by_hook").exists()
    answer.write_text(copilot_keyboard.format_hook_answer("allow"))
    agent_pane.send_prompt("MODEL shell touch by_hook")
    recorder.record_scene("hook_allowed", session_file="completed", look="completed", state="completed")
    assert (agent_pane.place.cwd / "by_hook").exists()
    answer.unlink()

    agent_pane.send_prompt(
        'MODEL tool ask_user {"message":"Which database?","requestedSchema":{"type":"object","properties":'
        '{"db":{"type":"string","title":"Database","enum":["pg","lite"]}},"required":["db"]}}'
    )
    waiting = dict.fromkeys(("session_file", "hook", "look", "state"), "waiting_input")
    recorder.record_scene("question_asked", **waiting, rule="question_asked")
    agent_pane.press("Escape")
    recorder.record_scene("question_dismissed", session_file="completed", look="completed", state="completed")
    agent_pane.send_prompt(
        'MODEL tool task {"description":"a part","prompt":"say hello","agent_type":"explore","name":"part"}'
    )
    recorder.record_scene("subtask", session_file="completed", look="completed", state="completed", subtasks=0)
    assert {signal.kind for signal in recorder.play.signals} >= {"task_began", "task_ended"}

    agent_pane.send_prompt("MODEL slow 20")
    agent_pane.wait_for_text("thinking aloud about")
    recorder.press_until_answered(copilot_keyboard.find_interrupt_keys)
    recorder.record_scene("interrupted", session_file="idle", look="idle", rule="cancelled", state="idle")
    agent_pane.send_prompt("MODEL fail 401")
    refused = {"session_file": "error", "look": "error", "rule": "login_refused", "state": "error"}
    recorder.record_scene("login_refused", **refused, auth_needed=True)
    agent_pane.send_prompt("MODEL limit")
    recorder.record_scene(
        "usage_limit", hook="running", look="running", state="running", usage_limited=True, resets=True
    )
    recorder.press_until_answered(copilot_keyboard.find_interrupt_keys)
    recorder.record_scene("usage_limit_left", session_file="idle", look="idle", state="idle")

    agent_pane.send_prompt("/compact")
    recorder.record_scene("compacted", session_file="idle", hook="running", look="idle", rule="compacted", state="idle")
    resumed = quit_and_resume(recorder, "/exit", left="copilot --resume=", begun="Interactive")
    resumed.record_scene("resumed", look="idle")
    agent_pane.send_prompt("MODEL text here again")
    resumed.record_scene("resumed_and_answered", session_file="completed", look="completed", state="completed")
    assert resumed.play.signals[-1].session == get_first_session(recorder)


@pytest.mark.parametrize("agent_pane", [GEMINI], indirect=True)
def test_gemini_in_an_untrusted_folder(agent_pane):
    (agent_pane.place.home / ".gemini/trustedFolders.json").unlink()
    agent_pane.start("Do you trust the files")
    first = SceneRecorder("3_untrusted", agent_pane, gemini.ADAPTER)
    first.record_scene("trust_asked", title="idle", look="waiting_approval", rule="folder_not_trusted")
    assert resolve_state_with_screen(first.play, agent_pane.capture_screen()).value == "waiting_approval", (
        "though its title says: ready"
    )
    # A second Enter would close the dialog before Gemini restarts, and then it never restarts.
    first.press_once(lambda screen: gemini_keyboard.find_option_keys(screen, "Trust folder (work)"))
    agent_pane.wait_for_text("Type your message")
    wait_until(lambda: (now := first.find_process()) and now.pid != first.process.pid, timeout_s=60)
    recorder = SceneRecorder("4_trusted", agent_pane, gemini.ADAPTER)
    recorder.record_scene("trusted", hook="idle", title="idle", look="idle", state="idle")

    questions = '{"questions":[{"question":"Which one","header":"DB","type":"choice","options":[OPTIONS]}]}'
    options = '{"label":"pg","description":"large"},{"label":"lite","description":"small"}'
    agent_pane.send_prompt("MODEL tool ask_user " + questions.replace("OPTIONS", options))
    asked = dict.fromkeys(("hook", "look"), "waiting_input")
    recorder.record_scene("question_asked", **asked, title="waiting_approval", rule="question_asked")
    assert resolve_state_with_screen(recorder.play, agent_pane.capture_screen()).value == "waiting_input", (
        "whichever source reported first"
    )
    recorder.press_until_answered(lambda screen: gemini_keyboard.find_option_keys(screen, "lite"))
    recorder.record_scene("question_answered", **COMPLETED, title="idle", rule="answered")

    agent_pane.send_prompt(
        f'MODEL tool run_shell_command {{"command":"{LONG_COMMAND}","is_background":true,"description":"A long one"}}'
    )
    recorder.wait_for_meaning(rule="approval_asked")
    recorder.press_until_answered(lambda screen: gemini_keyboard.find_answer_keys(screen, "allow"))
    recorder.record_scene(
        "background_process", hook="completed", title="idle", look="running", rule="background_process"
    )
    resolved = resolve_state_with_screen(recorder.play, agent_pane.capture_screen())
    assert (resolved.value, resolved.flags.subtasks) == ("running", 1)
    (agent_pane.place.cwd / "go").touch()
    recorder.record_scene("background_process_ended", look="completed", rule="answered")

    for status in (429, 500):
        agent_pane.send_prompt(f"MODEL fail {status}")
        recorder.record_scene(f"retrying_{status}", hook="running", title="running", **RUNNING, rule="working")
        recorder.press_until_answered(gemini_keyboard.find_interrupt_keys)
        recorder.wait_for_meaning(title="idle", look="idle", rule="cancelled")
    agent_pane.send_prompt("MODEL fail 400")
    recorder.record_scene("error_400", hook="unknown", title="idle", look="error", rule="request_failed")
    kill_agent(recorder)  # not recorded: the screen that it leaves looks like a running agent


@pytest.mark.parametrize("agent_pane", [OPENCODE], indirect=True)
def test_opencode_errors_and_retries(agent_pane):
    agent_pane.start("Ask anything")
    recorder = SceneRecorder("3_trouble", agent_pane, opencode.ADAPTER)
    for status in (429, 500):
        recorder.wait_for_meaning(look="idle")
        agent_pane.send_prompt(f"MODEL fail {status}")
        recorder.record_scene(f"retrying_{status}", hook="running", **RUNNING, rule="retrying")
        recorder.press_until_answered(opencode_keyboard.find_interrupt_keys)
        recorder.wait_for_meaning(hook="idle", look="idle")
    agent_pane.send_prompt("MODEL fail 400")
    recorder.record_scene("error_400", hook="error", look="error", rule="request_failed", state="error")
    kill_agent(recorder)
    recorder.record_scene("killed", look="unknown")


@pytest.mark.parametrize("agent_pane", [COPILOT], indirect=True)
def test_copilot_in_an_untrusted_folder(agent_pane):
    for name in ("settings", "config"):
        agent_pane.place.write_home_file(f".copilot/{name}.json", {"banner": "never"})
    agent_pane.start("Do you trust the files")
    recorder = SceneRecorder("3_untrusted", agent_pane, copilot.ADAPTER)
    recorder.record_scene("trust_asked", look="waiting_approval", rule="folder_not_trusted")
    assert resolve_state_with_screen(recorder.play, agent_pane.capture_screen()).value == "waiting_approval"
    recorder.press_until_answered(lambda screen: copilot_keyboard.find_answer_keys(screen, "allow"))
    recorder.record_scene("trusted", look="idle", rule="at_rest")

    agent_pane.send_prompt(
        f'MODEL tool bash {{"command":"{LONG_COMMAND}","description":"A long command","mode":"async"}}'
    )
    recorder.wait_for_meaning(session_file="waiting_approval", rule="approval_asked")
    recorder.press_until_answered(lambda screen: copilot_keyboard.find_answer_keys(screen, "allow"))
    recorder.record_scene("background_shell", session_file="completed", look="running", state="running", subtasks=1)
    (agent_pane.place.cwd / "go").touch()
    recorder.record_scene(
        "background_shell_ended", session_file="completed", look="completed", state="completed", subtasks=0
    )

    agent_pane.send_prompt("MODEL fail 500")
    recorder.record_scene("retrying", **RUNNING, rule="retrying")
    recorder.record_scene("error_500", session_file="error", look="error", rule="request_failed", state="error")
    kill_agent(recorder)
    recorder.record_scene("killed", look="unknown")


def kill_agent(recorder: SceneRecorder) -> None:
    """Kill the agent; its last screen stays."""
    os.kill(recorder.process.pid, signal.SIGKILL)
    wait_until(lambda: recorder.find_process() is None)


def quit_and_resume(recorder: SceneRecorder, quit_words: str, *, left: str, begun: str) -> SceneRecorder:
    """Quit the agent by its own command and resume its session in the same pane."""
    recorder.agent_pane.send_prompt(quit_words)
    recorder.agent_pane.wait_for_text(left)
    recorder.record_scene("quit", look="unknown")
    wait_until(lambda: recorder.find_process() is None)
    recorder.agent_pane.start(begun, *recorder.adapter.build_resume_command(get_first_session(recorder))[1:])
    return SceneRecorder("2_resumed", recorder.agent_pane, recorder.adapter)


def get_first_session(recorder: SceneRecorder) -> str:
    """Return the session that the run started with."""
    return next(signal.session for signal in recorder.play.signals if signal.session)


def post_request(server: str, request_parts: session_control.HttpRequest | None) -> None:
    assert request_parts is not None
    path, body = request_parts
    data = json.dumps(body).encode()
    headers = {"content-type": "application/json"}
    with urlopen(Request(server + path, data, headers, method="POST"), timeout=10) as reply:
        assert reply.status < 300
