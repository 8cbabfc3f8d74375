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
from termvisor.agents.adapters.copilot import keyboard as to_copilot
from termvisor.agents.adapters.gemini import keyboard as to_gemini
from termvisor.agents.adapters.opencode import keyboard as to_opencode
from termvisor.testing.tmux import private_tmux, short_folder
from tests.live.agents.hooked import ANSWER, settle
from tests.live.agents.lab import COPILOT, GEMINI, OPENCODE, Workplace
from tests.live.agents.model.server import model_server
from tests.live.agents.stage import Stage
from tests.live.agents.tape import Tape
from tests.live.waiting import until
from tests.recordings.looking import with_a_look

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

LONG = "until [ -e go ]; do sleep 0.2; done"
"""A command that runs until it is let go."""
RUNS = dict.fromkeys(("look", "state"), "running")
ASKS = dict.fromkeys(("hook", "look", "state"), "waiting_approval")
DONE = dict.fromkeys(("hook", "look", "state"), "completed")


@pytest.fixture(scope="module")
def model():
    with model_server() as address:
        yield address


@pytest.fixture
def stage(model, request):
    with short_folder() as folder, private_tmux(folder) as tmux:
        place = Workplace(Path(folder) / "agent", model)
        place.folder.mkdir()
        settle(request.param, place)
        yield Stage(tmux, place, request.param)


@pytest.mark.parametrize("stage", [GEMINI], indirect=True)
def test_gemini(stage):
    stage.start("Type your message")
    tape = Tape("1_all", stage, gemini.ADAPTER)
    assert "--max-old-space-size" in " ".join(tape.process.argv), "the inner one of the two"
    tape.scene("started", hook="idle", title="idle", look="idle", rule="at_rest", state="idle")

    stage.prompt("MODEL slow 3")
    tape.scene("running", hook="running", title="running", **RUNS, rule="working")
    tape.scene("completed", **DONE, title="idle", notification="completed", rule="answered")

    stage.prompt("MODEL shell touch made")
    asked = {**ASKS, "title": "waiting_approval", "notification": "waiting_approval", "rule": "approval_asked"}
    tape.scene("approval_asked", **asked)
    tape.obey(lambda screen: to_gemini.answer(screen, "allow"))
    tape.scene("approval_given", **DONE, title="idle")
    assert (stage.place.cwd / "made").exists()
    stage.prompt("MODEL write other")
    tape.scene("write_asked", **asked)
    tape.obey(lambda screen: to_gemini.answer(screen, "deny"))
    tape.scene("approval_refused", title="idle", look="idle", rule="cancelled")
    assert not (stage.place.cwd / "other").exists()

    answer = stage.place.folder / ANSWER
    answer.write_text(to_gemini.hook_answer("deny", "Not now."))
    stage.prompt("MODEL shell touch by_hook")
    tape.scene("hook_denied", **DONE)
    answer.unlink()
    assert not (stage.place.cwd / "by_hook").exists()

    stage.prompt("MODEL slow 20")
    stage.shows("✦ thinking aloud about")
    tape.obey(to_gemini.interrupt)
    tape.scene("interrupted", title="idle", look="idle", rule="cancelled")

    stage.prompt("MODEL fail 401")
    tape.scene("login_refused", hook="unknown", title="idle", look="error", rule="login_refused")
    assert with_a_look(tape.play, stage.screen()).value == "error"
    stage.prompt("MODEL limit")
    tape.scene("usage_limit_asked", hook="running", title="running", look="waiting_input", rule="usage_limit_asked")
    tape.obey(lambda shown: to_gemini.choose(shown, "Stop"))
    tape.scene("usage_limit_reached", hook="unknown", title="idle", look="error", rule="usage_limit_reached")

    stage.prompt(to_gemini.COMPACT_WORDS)
    tape.scene("compacted", hook="running", look="idle", rule="compressed", state="running", compacting=True)
    again = taken_up(tape, to_gemini.QUIT_WORDS, left="To resume this session", begun="Type your message")
    again.scene("resumed", hook="idle", title="idle", look="idle", state="idle")
    assert again.play.signals[-1].session in ("", session_of(tape))


@pytest.mark.parametrize("stage", [OPENCODE], indirect=True)
def test_opencode(stage):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    stage.start("Ask anything", "--port", str(port))
    tape = Tape("1_all", stage, opencode.ADAPTER)
    tape.scene("started", hook="idle", look="idle", rule="at_rest", state="idle")

    stage.prompt("MODEL slow 4")
    tape.scene("running", hook="running", **RUNS, rule="working")
    tape.scene("completed", **DONE, rule="answered")

    stage.prompt("MODEL shell touch made")
    tape.scene("approval_asked", **ASKS, rule="permission_asked")
    assert to_opencode.answer(stage.screen(), "allow") is None, "which choice is marked, colours alone tell"
    request = str(next(one.payload["request"] for one in reversed(tape.play.signals) if "request" in one.payload))
    call(f"http://127.0.0.1:{port}", to_opencode.reply(request, "allow"))
    tape.scene("approval_given", **DONE)
    assert (stage.place.cwd / "made").exists()
    stage.prompt("MODEL shell touch other")
    tape.scene("approval_asked_again", **ASKS)
    tape.obey(lambda screen: to_opencode.answer(screen, "deny"))
    tape.scene("approval_refused", hook="idle", look="idle", state="idle")
    assert not (stage.place.cwd / "other").exists()

    stage.prompt(
        'MODEL tool question {"questions":[{"question":"Which database?","header":"DB","options":'
        '[{"label":"pg","description":"large"},{"label":"lite","description":"small"}]}]}'
    )
    waits = dict.fromkeys(("hook", "look", "state"), "waiting_input")
    tape.scene("question_asked", **waits, rule="question_asked")
    stage.press("Escape")
    tape.scene("question_dismissed", hook="idle", look="idle", state="idle")
    stage.prompt('MODEL tool task {"description":"a part","prompt":"say hello","subagent_type":"general"}')
    tape.scene("subtask", **DONE, subtasks=0)
    assert {signal.kind for signal in tape.play.signals} >= {"task_began", "task_ended"}

    stage.prompt("MODEL slow 20")
    stage.shows("thinking aloud about")
    tape.obey(to_opencode.interrupt)
    tape.scene("interrupted", hook="idle", look="idle", rule="interrupted", state="idle")
    stage.prompt("MODEL fail 401")
    tape.scene("login_refused", hook="error", look="error", rule="login_refused", state="error", auth_needed=True)
    stage.prompt("MODEL limit")
    tape.scene("usage_limit", hook="running", rule="usage_limit_retried", state="running", usage_limited=True)
    tape.obey(to_opencode.interrupt)
    tape.scene("usage_limit_left", hook="idle", look="idle", state="idle", usage_limited=True)

    stage.prompt(to_opencode.COMPACT_WORDS)
    tape.scene("compacting", hook="running", rule="compacting", state="running", compacting=True)
    tape.scene("compacted", hook="completed", look="idle", rule="compacted", compacting=False)
    again = taken_up(tape, to_opencode.QUIT_WORDS, left="opencode -s ses_", begun="ctrl+p commands")
    again.scene("resumed", hook="idle", look="idle", state="idle")
    stage.prompt("MODEL text here again")
    again.scene("resumed_and_answered", **DONE)
    assert again.play.signals[-1].session == session_of(tape)


@pytest.mark.parametrize("stage", [COPILOT], indirect=True)
def test_copilot(stage):
    stage.start("Interactive")
    tape = Tape("1_all", stage, copilot.ADAPTER)
    tape.scene("started", look="idle", rule="at_rest")

    stage.prompt("MODEL slow 3")
    tape.scene("running", session_file="running", hook="running", **RUNS, rule="working")
    tape.scene("completed", session_file="completed", **DONE, rule="answered")

    stage.prompt("MODEL shell touch made")
    tape.scene("approval_asked", session_file="waiting_approval", **ASKS, rule="approval_asked")
    tape.obey(lambda screen: to_copilot.answer(screen, "allow"))
    tape.scene("approval_given", session_file="completed", **DONE)
    assert (stage.place.cwd / "made").exists()
    stage.prompt("MODEL write other")
    tape.scene("write_asked", session_file="waiting_approval", **ASKS, rule="approval_asked")
    tape.obey(lambda screen: to_copilot.answer(screen, "deny"))
    tape.scene("approval_refused", session_file="idle", look="idle", rule="cancelled", state="idle")
    assert not (stage.place.cwd / "other").exists()

    answer = stage.place.folder / ANSWER
    answer.write_text(to_copilot.hook_answer("deny", "Not now."))
    stage.prompt("MODEL shell touch by_hook")
    tape.scene("hook_denied", session_file="completed", look="completed", state="completed")
    assert not (stage.place.cwd / "by_hook").exists()
    answer.write_text(to_copilot.hook_answer("allow"))
    stage.prompt("MODEL shell touch by_hook")
    tape.scene("hook_allowed", session_file="completed", look="completed", state="completed")
    assert (stage.place.cwd / "by_hook").exists()
    answer.unlink()

    stage.prompt(
        'MODEL tool ask_user {"message":"Which database?","requestedSchema":{"type":"object","properties":'
        '{"db":{"type":"string","title":"Database","enum":["pg","lite"]}},"required":["db"]}}'
    )
    waits = dict.fromkeys(("session_file", "hook", "look", "state"), "waiting_input")
    tape.scene("question_asked", **waits, rule="question_asked")
    stage.press("Escape")
    tape.scene("question_dismissed", session_file="completed", look="completed", state="completed")
    stage.prompt('MODEL tool task {"description":"a part","prompt":"say hello","agent_type":"explore","name":"part"}')
    tape.scene("subtask", session_file="completed", look="completed", state="completed", subtasks=0)
    assert {signal.kind for signal in tape.play.signals} >= {"task_began", "task_ended"}

    stage.prompt("MODEL slow 20")
    stage.shows("thinking aloud about")
    tape.obey(to_copilot.interrupt)
    tape.scene("interrupted", session_file="idle", look="idle", rule="cancelled", state="idle")
    stage.prompt("MODEL fail 401")
    refused = {"session_file": "error", "look": "error", "rule": "login_refused", "state": "error"}
    tape.scene("login_refused", **refused, auth_needed=True)
    stage.prompt("MODEL limit")
    tape.scene("usage_limit", hook="running", look="running", state="running", usage_limited=True, resets=True)
    tape.obey(to_copilot.interrupt)
    tape.scene("usage_limit_left", session_file="idle", look="idle", state="idle")

    stage.prompt(to_copilot.COMPACT_WORDS)
    tape.scene("compacted", session_file="idle", hook="running", look="idle", rule="compacted", state="idle")
    again = taken_up(tape, to_copilot.QUIT_WORDS, left="copilot --resume=", begun="Interactive")
    again.scene("resumed", look="idle")
    stage.prompt("MODEL text here again")
    again.scene("resumed_and_answered", session_file="completed", look="completed", state="completed")
    assert again.play.signals[-1].session == session_of(tape)


@pytest.mark.parametrize("stage", [GEMINI], indirect=True)
def test_gemini_where_nobody_trusts(stage):
    (stage.place.home / ".gemini/trustedFolders.json").unlink()
    stage.start("Do you trust the files")
    first = Tape("3_untrusted", stage, gemini.ADAPTER)
    first.scene("trust_asked", title="idle", look="waiting_approval", rule="folder_not_trusted")
    assert with_a_look(first.play, stage.screen()).value == "waiting_approval", "though its title says: ready"
    # A second Enter closes the dialog before Gemini starts anew, and then it never does.
    first.obey_once(lambda screen: to_gemini.choose(screen, "Trust folder (work)"))
    stage.shows("Type your message")
    until(lambda: (now := first.recognised()) and now.pid != first.process.pid, seconds=60)
    tape = Tape("4_trusted", stage, gemini.ADAPTER)
    tape.scene("trusted", hook="idle", title="idle", look="idle", state="idle")

    questions = '{"questions":[{"question":"Which one","header":"DB","type":"choice","options":[OPTIONS]}]}'
    options = '{"label":"pg","description":"large"},{"label":"lite","description":"small"}'
    stage.prompt("MODEL tool ask_user " + questions.replace("OPTIONS", options))
    asked = dict.fromkeys(("hook", "look"), "waiting_input")
    tape.scene("question_asked", **asked, title="waiting_approval", rule="question_asked")
    assert with_a_look(tape.play, stage.screen()).value == "waiting_input", "whichever of the two spoke first"
    tape.obey(lambda screen: to_gemini.choose(screen, "lite"))
    tape.scene("question_answered", **DONE, title="idle", rule="answered")

    stage.prompt(f'MODEL tool run_shell_command {{"command":"{LONG}","is_background":true,"description":"A long one"}}')
    tape.comes_to(rule="approval_asked")
    tape.obey(lambda screen: to_gemini.answer(screen, "allow"))
    tape.scene("background_process", hook="completed", title="idle", look="running", rule="background_process")
    seen = with_a_look(tape.play, stage.screen())
    assert (seen.value, seen.flags.subtasks) == ("running", 1)
    (stage.place.cwd / "go").touch()
    tape.scene("background_process_ended", look="completed", rule="answered")

    for status in (429, 500):
        stage.prompt(f"MODEL fail {status}")
        tape.scene(f"retrying_{status}", hook="running", title="running", **RUNS, rule="working")
        tape.obey(to_gemini.interrupt)
        tape.comes_to(title="idle", look="idle", rule="cancelled")
    stage.prompt("MODEL fail 400")
    tape.scene("error_400", hook="unknown", title="idle", look="error", rule="request_failed")
    crashed(tape)  # not recorded: what it leaves on the screen looks as if it lived


@pytest.mark.parametrize("stage", [OPENCODE], indirect=True)
def test_opencode_in_trouble(stage):
    stage.start("Ask anything")
    tape = Tape("3_trouble", stage, opencode.ADAPTER)
    for status in (429, 500):
        tape.comes_to(look="idle")
        stage.prompt(f"MODEL fail {status}")
        tape.scene(f"retrying_{status}", hook="running", **RUNS, rule="retrying")
        tape.obey(to_opencode.interrupt)
        tape.comes_to(hook="idle", look="idle")
    stage.prompt("MODEL fail 400")
    tape.scene("error_400", hook="error", look="error", rule="request_failed", state="error")
    crashed(tape)
    tape.scene("killed", look="unknown")


@pytest.mark.parametrize("stage", [COPILOT], indirect=True)
def test_copilot_where_nobody_trusts(stage):
    for name in ("settings", "config"):
        stage.place.write(f".copilot/{name}.json", {"banner": "never"})
    stage.start("Do you trust the files")
    tape = Tape("3_untrusted", stage, copilot.ADAPTER)
    tape.scene("trust_asked", look="waiting_approval", rule="folder_not_trusted")
    assert with_a_look(tape.play, stage.screen()).value == "waiting_approval"
    tape.obey(lambda screen: to_copilot.answer(screen, "allow"))
    tape.scene("trusted", look="idle", rule="at_rest")

    stage.prompt(f'MODEL tool bash {{"command":"{LONG}","description":"A long command","mode":"async"}}')
    tape.comes_to(session_file="waiting_approval", rule="approval_asked")
    tape.obey(lambda screen: to_copilot.answer(screen, "allow"))
    tape.scene("background_shell", session_file="completed", look="running", state="running", subtasks=1)
    (stage.place.cwd / "go").touch()
    tape.scene("background_shell_ended", session_file="completed", look="completed", state="completed", subtasks=0)

    stage.prompt("MODEL fail 500")
    tape.scene("retrying", **RUNS, rule="retrying")
    tape.scene("error_500", session_file="error", look="error", rule="request_failed", state="error")
    crashed(tape)
    tape.scene("killed", look="unknown")


def crashed(tape: Tape) -> None:
    """It is killed, and leaves its last screen behind."""
    os.kill(tape.process.pid, signal.SIGKILL)
    until(lambda: tape.recognised() is None)


def taken_up(tape: Tape, quit_words: str, *, left: str, begun: str) -> Tape:
    """It leaves by its own command, and its session is taken up in the same place."""
    tape.stage.prompt(quit_words)
    tape.stage.shows(left)
    tape.scene("quit", look="unknown")
    until(lambda: tape.recognised() is None)
    tape.stage.start(begun, *tape.adapter.resume_command(session_of(tape))[1:])
    return Tape("2_resumed", tape.stage, tape.adapter)


def session_of(tape: Tape) -> str:
    """The one that it began with."""
    return next(signal.session for signal in tape.play.signals if signal.session)


def call(server: str, wanted: to_opencode.Call | None) -> None:
    assert wanted is not None
    data = json.dumps(wanted.body).encode()
    headers = {"content-type": "application/json"}
    with urlopen(Request(server + wanted.path, data, headers, method=wanted.method), timeout=10) as reply:
        assert reply.status < 300
