"""The real Codex, in real panes, with a scripted model: what it says and shows means what the adapter makes of it."""

import os
import signal
from pathlib import Path

import pytest

from termvisor.agents.adapters.codex import ADAPTER
from termvisor.agents.adapters.codex import keyboard as channel
from termvisor.model.agent.session import SourceHealth
from termvisor.testing.tmux import private_tmux, short_folder
from tests.live.agents.codex_stage import ALONE, House, house
from tests.live.agents.ears import CodexEars
from tests.live.agents.model.server import model_server
from tests.live.agents.stage import PATIENCE, Stage
from tests.live.agents.tape import Tape
from tests.live.waiting import until
from tests.recordings.looking import with_a_look

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def model():
    with model_server() as address:
        yield address


@pytest.fixture(scope="module")
def shared(model):
    """A home with a shared server that is up and heard."""
    with short_folder() as folder, private_tmux(folder) as tmux, house(tmux, Path(folder) / "h", model) as one:
        first = one.open("first", shows="Hooks need review")
        taped("first", one, first).scene("hooks_need_review", look="waiting_approval", rule="hooks_need_review")
        trust_hooks(first)
        one.connected()
        yield one


@pytest.fixture
def home(shared: House):
    """The shared one. What a test opens in it is closed, also where it fails: nobody finds another's leftovers."""
    kept = len(shared.stages)
    yield shared
    for stage in shared.stages[kept:]:
        shared.close(stage)


@pytest.fixture
def tape(home: House, request):
    """A Codex in a folder of its own."""
    name = request.node.name.removeprefix("test_")
    stage = home.open(name)
    tape = taped(name, home, stage)
    tape.comes_to(osc="idle", app_server="idle", look="idle", rule="fresh_start", state="idle")
    return tape


def test_turn(tape: Tape):
    tape.scene("start", osc="idle", app_server="idle", look="idle", state="idle")
    tape.stage.prompt("MODEL stall 3")
    tape.scene("working", osc="running", app_server="running", look="running", rule="working", state="running")
    tape.scene("completed", osc="completed", app_server="completed", look="completed", hook="completed")
    tape.stage.prompt("MODEL slow 4")
    tape.scene("streaming", osc="running", app_server="running", look="running", rule="text_without_an_end")
    tape.scene("streamed", osc="completed", app_server="completed", look="completed", state="completed")


def test_approval(home: House, tape: Tape):
    tape.stage.prompt("MODEL shell touch one")
    tape.scene("approval_asked", osc="waiting_approval", app_server="waiting_approval", look="waiting_approval")
    request = followed(home, tape.session("app_server"))
    reply = channel.approve(request)
    assert home.listening.call(home.server.reply(request, reply.result))
    assert home.listening.call(home.server.until_resolved(request))
    assert not home.listening.call(home.server.reply(request, reply.result))
    tape.scene("approved", osc="completed", app_server="completed", look="completed", state="completed")
    assert (tape.stage.place.cwd / "one").exists()

    tape.stage.prompt("MODEL shell touch two")
    tape.comes_to(osc="waiting_approval", app_server="waiting_approval", look="waiting_approval")
    request = home.listening.call(home.server.request_in(tape.session("app_server")))
    assert home.listening.call(home.server.reply(request, channel.deny(request).result))
    tape.scene("denied", osc="idle", app_server="idle", look="idle", rule="interrupted")
    asked(home, channel.unfollow(tape.session("app_server")))
    assert not (tape.stage.place.cwd / "two").exists()


def test_keys(tape: Tape):
    tape.stage.prompt("MODEL shell touch three")
    tape.comes_to(osc="waiting_approval", app_server="waiting_approval", rule="approval_asked")
    press(tape, channel.approve_keys)
    tape.comes_to(osc="completed", app_server="completed", look="completed")
    tape.stage.prompt("MODEL stall 20")
    tape.comes_to(osc="running", app_server="running", rule="working")
    press(tape, channel.interrupt)
    tape.scene("interrupted", osc="idle", app_server="idle", look="idle", rule="interrupted", hook="idle")
    assert channel.composer(tape.screen()) == ""
    assert channel.approve_keys(tape.screen()) is None


def test_another_client(home: House, tape: Tape):
    tape.stage.prompt("MODEL text hello there")
    tape.comes_to(app_server="completed", look="completed")
    turn = asked(home, channel.prompt(tape.session("app_server"), "MODEL stall 20"))["turn"]
    tape.scene("started_from_outside", osc="running", app_server="running", look="running", state="running")
    assert asked(home, channel.last_turn(tape.session("app_server")))["data"][0]["id"] == turn["id"]
    asked(home, channel.stop_turn(tape.session("app_server"), turn["id"]))
    tape.scene("interrupted_from_outside", osc="idle", app_server="idle", look="idle", rule="interrupted")


def test_question(tape: Tape):
    tape.stage.prompt("/plan")
    tape.stage.shows("Plan mode (")
    form = (
        '{"questions":[{"id":"db","header":"DB","question":"Which one?","options":[{"label":"A","description":"a"}]}]}'
    )
    tape.stage.prompt(f"MODEL tool request_user_input {form}")
    tape.scene("question_asked", app_server="waiting_input", look="waiting_input", state="waiting_input")


@pytest.mark.parametrize(
    ("status", "rule", "error"),
    [(401, "not_signed_in", "auth"), (429, "rate_limited", "rate_limit"), (503, "model_at_capacity", "overloaded")],
    ids=["unauthorized", "refused", "overloaded"],
)
def test_error(tape: Tape, status: int, rule: str, error: str):
    tape.stage.prompt(f"MODEL fail {status}")
    tape.scene(f"error_{status}", osc="error", app_server="error", look="error", rule=rule, auth_needed=status == 401)
    assert {one.payload["error"] for one in tape.play.signals if one.payload.get("error")} == {error}


def test_retry(tape: Tape):
    tape.stage.prompt("MODEL fail 500")
    tape.scene("retrying", osc="running", app_server="running", look="running", rule="retrying", state="running")
    tape.scene("error_500", osc="error", app_server="error", look="error", rule="high_demand", state="error")


def test_usage_limit(tape: Tape):
    tape.stage.prompt("MODEL limit")
    limited = {"state": "error", "usage_limited": True, "resets": True}
    tape.scene("usage_limit_dialog", osc="error", app_server="error", look="error", rule="limit_dialog", **limited)
    assert channel.composer(tape.screen()) is None
    press(tape, lambda shown: channel.choose(shown, "Keep current model"))
    tape.scene("usage_limit", look="error", rule="usage_limit_reached", **limited)
    assert "scripted-model" in tape.stage.text()


def test_compaction(tape: Tape):
    tape.stage.prompt("MODEL text before it is compacted")
    tape.comes_to(osc="completed", app_server="completed")
    tape.stage.prompt("/compact")
    tape.scene("compacting", osc="running", app_server="running", look="running", rule="compacting", compacting=True)
    tape.scene("compacted", osc="completed", app_server="completed", look="completed", compacting=False)


def test_leaving(home: House, tape: Tape):
    tape.stage.prompt("MODEL text until later")
    tape.comes_to(osc="completed", app_server="completed")
    tape.stage.press("C-c")
    tape.scene("left", osc="unknown", look="unknown")
    until(lambda: home.process(tape.stage) is None, seconds=PATIENCE)

    command = ADAPTER.resume_command(tape.session("app_server"))
    stage = home.open(tape.run, *command[1:])
    again = taped("resumed", home, stage)
    again.scene("resumed", osc="idle", app_server="idle", look="completed", rule="turn_ended")
    stage.prompt("MODEL stall 2")
    again.comes_to(osc="running", app_server="running", rollout="running", state="running")
    again.scene("resumed_completed", osc="completed", app_server="completed", rollout="completed", state="completed")
    os.kill(again.process.pid, signal.SIGKILL)
    until(lambda: home.process(stage) is None, seconds=PATIENCE)
    again.scene("killed", look="unknown")


def test_background(tape: Tape):
    """Of a command that runs on after the turn, its marks tell, and the screen, which counts; but not the server."""
    command = "until [ -e go ]; do sleep 0.2; done"
    tape.stage.prompt(f'MODEL tool exec_command {{"cmd":"{command}","yield_time_ms":1000}}')
    shown = {"look": "running", "rule": "background_terminal"}
    tape.scene("background_terminal", osc="running", app_server="completed", **shown)
    seen = with_a_look(tape.play, tape.screen())
    assert (seen.value, seen.flags.subtasks) == ("running", 1)
    (tape.stage.place.cwd / "go").touch()
    tape.scene("background_terminal_ended", osc="completed", look="completed", rule="turn_ended")


def test_trust(home: House):
    """Asked in a repository only."""
    git = home.folder / "strange" / ".git"
    for name in ("objects", "refs"):
        (git / name).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    stage = home.open("strange", shows="Trust this folder?")
    tape = taped("strange", home, stage)
    tape.scene("trust_asked", look="waiting_approval", rule="folder_not_trusted")
    assert with_a_look(tape.play, tape.screen()).value == "waiting_approval"
    stage.press("Enter")
    tape.scene("trusted", osc="idle", look="idle", rule="fresh_start")


def test_settings_that_differ(home: House):
    stage = home.open("differs", *ALONE, shows="3. Cancel")
    tape = taped("differs", home, stage)
    tape.scene("server_settings_differ", look="waiting_input", rule="server_settings_differ")


def test_alone(model: str):
    """Without the shared server: its pane, its hooks and its notify program still tell."""
    with short_folder() as folder, private_tmux(folder) as tmux, house(tmux, Path(folder) / "h", model) as home:
        stage = home.open("alone", *ALONE, shows="Hooks need review")
        trust_hooks(stage)
        tape = taped("alone", home, stage)
        tape.scene("alone_start", osc="idle", look="idle", state="idle")
        stage.prompt("MODEL shell touch here")
        tape.scene("alone_asked", osc="waiting_approval", hook="waiting_approval", look="waiting_approval")
        stage.press("Escape")
        tape.scene("alone_denied", osc="idle", hook="idle", look="idle", rule="interrupted", state="idle")
        stage.prompt("MODEL text done")
        tape.scene("alone_completed", osc="completed", hook="completed", notify="completed", look="completed")
        assert "app_server" not in {one.source for one in tape.play.signals}
        assert home.listening.ear.health.status == "absent"


def test_neighbours(home: House, tape: Tape):
    """Two that share the server are told apart; two in one folder are not, and it says so."""
    other = home.open("other")
    beside = taped("beside", home, other)
    other.prompt("MODEL stall 4")
    beside.comes_to(osc="running", app_server="running", hook="running", state="running")
    tape.comes_to(osc="idle", app_server="idle", state="idle")
    assert {one.hint.mux_pane for one in beside.play.signals if one.source == "hook"} == {None}

    second = home.open("other")
    until(lambda: "more than one Codex" in health(home).detail)
    second.prompt("MODEL text whose am I")
    second.shows("Worked for")
    crowd = until(lambda: [one for one in home.listening.records if one.hint.cwd])
    assert {(one.hint.cwd, one.hint.pid) for one in crowd} == {(str(other.place.cwd), 0)}


def test_nobody_is_disturbed(home: House, tape: Tape):
    """Codex goes on calling itself what it is, though we listen."""
    tape.stage.prompt("MODEL text who am I")
    tape.comes_to(osc="completed", app_server="completed")
    listed = home.listening.call(home.server.threads())
    assert {one["originator"] for one in listed} == {"codex-tui"}
    assert health(home).status == "well"


def trust_hooks(stage: Stage) -> None:
    stage.press("Down")
    stage.press("Enter")
    stage.shows("Ask Codex")


def taped(name: str, home: House, stage: Stage) -> Tape:
    return Tape(name, stage, ADAPTER, CodexEars(home))


def followed(home: House, thread: str) -> dict:
    asked(home, channel.follow(thread))
    return home.listening.call(home.server.request_in(thread))


def asked(home: House, ask: channel.Ask) -> dict:
    return home.listening.call(home.server.ask(ask.method, ask.params))


def press(tape: Tape, choose) -> None:
    keys = choose(tape.screen())
    assert keys is not None, tape.stage.text()
    tape.stage.press(*keys.keys)


def health(home: House) -> SourceHealth:
    return home.listening.ear.health
