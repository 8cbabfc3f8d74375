"""Gemini, opencode and Copilot, driven in a real tmux against the scripted model: what they leave is read as it is.

`RECORD=1` writes every scene to tests/recordings, where the unit tests replay them.
"""

import json
import socket
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from termvisor.agents import copilot, gemini, opencode
from termvisor.agents.copilot import channel as to_copilot
from termvisor.agents.gemini import channel as to_gemini
from termvisor.agents.opencode import channel as to_opencode
from termvisor.agents.opencode.recognise import server_of
from termvisor.testing.tmux import private_tmux, short_folder
from tests.live.agents.hooked import ANSWER, settle
from tests.live.agents.lab import COPILOT, GEMINI, OPENCODE, Workplace
from tests.live.agents.model.server import model_server
from tests.live.agents.other_tape import Tape
from tests.live.agents.stage import Stage
from tests.live.waiting import until
from tests.recordings.looking import with_a_look

pytestmark = pytest.mark.live

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
    answer.write_text(to_gemini.hook_answer("Not now."))
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
    tape.obey(to_gemini.stop_at_limit)
    tape.scene("usage_limit_reached", hook="unknown", title="idle", look="error", rule="usage_limit_reached")

    stage.prompt(to_gemini.COMPACT_WORDS)
    tape.scene("compacted", hook="running", look="idle", rule="compressed", state="running", compacting=True)
    stage.prompt(to_gemini.QUIT_WORDS)
    stage.shows("To resume this session")
    tape.scene("quit", look="unknown")
    until(lambda: tape.recognised() is None)

    session = next(signal.session for signal in tape.play.signals if signal.session)
    stage.start("Type your message", *gemini.ADAPTER.resume_command(session)[1:])
    tape = Tape("2_resumed", stage, gemini.ADAPTER)
    tape.scene("resumed", hook="idle", title="idle", look="idle", state="idle")
    assert tape.play.signals[-1].session in ("", session)


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
    call(server_of(tape.process), to_opencode.reply(request, "allow"))
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
    stage.prompt(to_opencode.QUIT_WORDS)
    stage.shows("opencode -s ses_")
    tape.scene("quit", look="unknown")
    until(lambda: tape.recognised() is None)

    session = next(signal.session for signal in tape.play.signals if signal.session)
    stage.start("ctrl+p commands", *opencode.ADAPTER.resume_command(session)[1:])
    tape = Tape("2_resumed", stage, opencode.ADAPTER)
    tape.scene("resumed", hook="idle", look="idle", state="idle")
    stage.prompt("MODEL text here again")
    tape.scene("resumed_and_answered", **DONE)
    assert tape.play.signals[-1].session == session


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
    session = next(signal.session for signal in tape.play.signals if signal.session)
    stage.prompt(to_copilot.QUIT_WORDS)
    stage.shows("copilot --resume=")
    tape.scene("quit", look="unknown")
    until(lambda: tape.recognised() is None)

    stage.start("Interactive", *copilot.ADAPTER.resume_command(session)[1:])
    tape = Tape("2_resumed", stage, copilot.ADAPTER)
    tape.scene("resumed", look="idle")
    stage.prompt("MODEL text here again")
    tape.scene("resumed_and_answered", session_file="completed", look="completed", state="completed")
    assert tape.play.signals[-1].session == session


def call(server: str, wanted: to_opencode.Call | None) -> None:
    assert wanted is not None
    data = json.dumps(wanted.body).encode()
    headers = {"content-type": "application/json"}
    with urlopen(Request(server + wanted.path, data, headers, method=wanted.method), timeout=10) as reply:
        assert reply.status < 300
