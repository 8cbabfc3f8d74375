"""The real Codex, in real panes, with a scripted model: what it says and shows means what the adapter makes of it."""

import os
import signal
from pathlib import Path

import pytest

from termvisor.agents.adapters.codex import ADAPTER, keyboard
from termvisor.agents.adapters.codex.server_client import session_control
from termvisor.model.agent.evidence import SourceHealth
from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from tests.live.agents.agent_pane import STEP_TIMEOUT_S, AgentPane
from tests.live.agents.codex_home import WITHOUT_SERVER_ARGS, CodexHome, open_codex_home
from tests.live.agents.model.server import run_model_server
from tests.live.agents.record_collector import CodexRecordCollector
from tests.live.agents.scene_recorder import SceneRecorder
from tests.live.polling import wait_until
from tests.recordings.scene import resolve_state_with_screen

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def model():
    with run_model_server() as address:
        yield address


@pytest.fixture(scope="module")
def shared(model):
    """A home with a shared server that is up and heard."""
    with (
        make_short_folder() as folder,
        run_private_tmux(folder) as tmux,
        open_codex_home(tmux, Path(folder) / "h", model) as one,
    ):
        first = one.open_pane("first", shows="Hooks need review")
        taped("first", one, first).record_scene("hooks_need_review", look="waiting_approval", rule="hooks_need_review")
        trust_hooks(first)
        one.wait_connected()
        yield one


@pytest.fixture
def home(shared: CodexHome):
    """The shared one. What a test opens in it is closed, also where it fails: nobody finds another's leftovers."""
    kept = len(shared.panes)
    yield shared
    for stage in shared.panes[kept:]:
        shared.close_pane(stage)


@pytest.fixture
def tape(home: CodexHome, request):
    """A Codex in a folder of its own."""
    name = request.node.name.removeprefix("test_")
    stage = home.open_pane(name)
    tape = taped(name, home, stage)
    tape.wait_for_meaning(osc="idle", app_server="idle", look="idle", rule="fresh_start", state="idle")
    return tape


def test_turn(tape: SceneRecorder):
    tape.record_scene("start", osc="idle", app_server="idle", look="idle", state="idle")
    tape.agent_pane.send_prompt("MODEL stall 3")
    tape.record_scene("working", osc="running", app_server="running", look="running", rule="working", state="running")
    tape.record_scene("completed", osc="completed", app_server="completed", look="completed", hook="completed")
    tape.agent_pane.send_prompt("MODEL slow 4")
    tape.record_scene("streaming", osc="running", app_server="running", look="running", rule="text_without_an_end")
    tape.record_scene("streamed", osc="completed", app_server="completed", look="completed", state="completed")


def test_approval(home: CodexHome, tape: SceneRecorder):
    tape.agent_pane.send_prompt("MODEL shell touch one")
    tape.record_scene("approval_asked", osc="waiting_approval", app_server="waiting_approval", look="waiting_approval")
    request = followed(home, tape.get_session("app_server"))
    reply = session_control.build_decision_reply(request, "allow")
    assert home.listener.run_coroutine(home.server.send_reply(request, reply))
    assert home.listener.run_coroutine(home.server.wait_until_resolved(request))
    assert not home.listener.run_coroutine(home.server.send_reply(request, reply))
    tape.record_scene("approved", osc="completed", app_server="completed", look="completed", state="completed")
    assert (tape.agent_pane.place.cwd / "one").exists()

    tape.agent_pane.send_prompt("MODEL shell touch two")
    tape.wait_for_meaning(osc="waiting_approval", app_server="waiting_approval", look="waiting_approval")
    request = home.listener.run_coroutine(home.server.wait_for_request(tape.get_session("app_server")))
    assert home.listener.run_coroutine(
        home.server.send_reply(request, session_control.build_decision_reply(request, "deny"))
    )
    tape.record_scene("denied", osc="idle", app_server="idle", look="idle", rule="interrupted")
    asked(home, session_control.build_unfollow_request(tape.get_session("app_server")))
    assert not (tape.agent_pane.place.cwd / "two").exists()


def test_keys(tape: SceneRecorder):
    tape.agent_pane.send_prompt("MODEL shell touch three")
    tape.wait_for_meaning(osc="waiting_approval", app_server="waiting_approval", rule="approval_asked")
    press(tape, lambda screen: keyboard.find_answer_keys(screen, "allow"))
    tape.wait_for_meaning(osc="completed", app_server="completed", look="completed")
    tape.agent_pane.send_prompt("MODEL stall 20")
    tape.wait_for_meaning(osc="running", app_server="running", rule="working")
    press(tape, keyboard.find_interrupt_keys)
    tape.record_scene("interrupted", osc="idle", app_server="idle", look="idle", rule="interrupted", hook="idle")
    assert keyboard.read_composer(tape.capture_screen()) == ""
    assert keyboard.find_answer_keys(tape.capture_screen(), "allow") is None


def test_another_client(home: CodexHome, tape: SceneRecorder):
    tape.agent_pane.send_prompt("MODEL text hello there")
    tape.wait_for_meaning(app_server="completed", look="completed")
    turn = asked(home, session_control.build_prompt_request(tape.get_session("app_server"), "MODEL stall 20"))["turn"]
    tape.record_scene("started_from_outside", osc="running", app_server="running", look="running", state="running")
    assert (
        asked(home, session_control.build_last_turn_request(tape.get_session("app_server")))["data"][0]["id"]
        == turn["id"]
    )
    asked(home, session_control.build_stop_request(tape.get_session("app_server"), turn["id"]))
    tape.record_scene("interrupted_from_outside", osc="idle", app_server="idle", look="idle", rule="interrupted")


def test_question(tape: SceneRecorder):
    tape.agent_pane.send_prompt("/plan")
    tape.agent_pane.wait_for_text("Plan mode (")
    form = (
        '{"questions":[{"id":"db","header":"DB","question":"Which one?","options":[{"label":"A","description":"a"}]}]}'
    )
    tape.agent_pane.send_prompt(f"MODEL tool request_user_input {form}")
    tape.record_scene("question_asked", app_server="waiting_input", look="waiting_input", state="waiting_input")


@pytest.mark.parametrize(
    ("status", "rule", "error"),
    [(401, "not_signed_in", "auth"), (429, "rate_limited", "rate_limit"), (503, "model_at_capacity", "overloaded")],
    ids=["unauthorized", "refused", "overloaded"],
)
def test_error(tape: SceneRecorder, status: int, rule: str, error: str):
    tape.agent_pane.send_prompt(f"MODEL fail {status}")
    tape.record_scene(
        f"error_{status}", osc="error", app_server="error", look="error", rule=rule, auth_needed=status == 401
    )
    assert {one.payload["error"] for one in tape.play.signals if one.payload.get("error")} == {error}


def test_retry(tape: SceneRecorder):
    tape.agent_pane.send_prompt("MODEL fail 500")
    tape.record_scene("retrying", osc="running", app_server="running", look="running", rule="retrying", state="running")
    tape.record_scene("error_500", osc="error", app_server="error", look="error", rule="high_demand", state="error")


def test_usage_limit(tape: SceneRecorder):
    tape.agent_pane.send_prompt("MODEL limit")
    limited = {"state": "error", "usage_limited": True, "resets": True}
    tape.record_scene(
        "usage_limit_dialog", osc="error", app_server="error", look="error", rule="limit_dialog", **limited
    )
    assert keyboard.read_composer(tape.capture_screen()) is None
    press(tape, lambda shown: keyboard.find_option_keys(shown, "Keep current model"))
    tape.record_scene("usage_limit", look="error", rule="usage_limit_reached", **limited)
    assert "scripted-model" in tape.agent_pane.capture_text()


def test_compaction(tape: SceneRecorder):
    tape.agent_pane.send_prompt("MODEL text before it is compacted")
    tape.wait_for_meaning(osc="completed", app_server="completed")
    tape.agent_pane.send_prompt("/compact")
    tape.record_scene(
        "compacting", osc="running", app_server="running", look="running", rule="compacting", compacting=True
    )
    tape.record_scene("compacted", osc="completed", app_server="completed", look="completed", compacting=False)


def test_leaving(home: CodexHome, tape: SceneRecorder):
    tape.agent_pane.send_prompt("MODEL text until later")
    tape.wait_for_meaning(osc="completed", app_server="completed")
    tape.agent_pane.press("C-c")
    tape.record_scene("left", osc="unknown", look="unknown")
    wait_until(lambda: home.find_process(tape.agent_pane) is None, timeout_s=STEP_TIMEOUT_S)

    command = ADAPTER.build_resume_command(tape.get_session("app_server"))
    stage = home.open_pane(tape.run, *command[1:])
    again = taped("resumed", home, stage)
    again.record_scene("resumed", osc="idle", app_server="idle", look="completed", rule="turn_ended")
    stage.send_prompt("MODEL stall 2")
    again.wait_for_meaning(osc="running", app_server="running", rollout="running", state="running")
    again.record_scene(
        "resumed_completed", osc="completed", app_server="completed", rollout="completed", state="completed"
    )
    os.kill(again.process.pid, signal.SIGKILL)
    wait_until(lambda: home.find_process(stage) is None, timeout_s=STEP_TIMEOUT_S)
    again.record_scene("killed", look="unknown")


def test_background(tape: SceneRecorder):
    """Of a command that runs on after the turn, its marks tell, and the screen, which counts; but not the server."""
    command = "until [ -e go ]; do sleep 0.2; done"
    tape.agent_pane.send_prompt(f'MODEL tool exec_command {{"cmd":"{command}","yield_time_ms":1000}}')
    shown = {"look": "running", "rule": "background_terminal"}
    tape.record_scene("background_terminal", osc="running", app_server="completed", **shown)
    seen = resolve_state_with_screen(tape.play, tape.capture_screen())
    assert (seen.value, seen.flags.subtasks) == ("running", 1)
    (tape.agent_pane.place.cwd / "go").touch()
    tape.record_scene("background_terminal_ended", osc="completed", look="completed", rule="turn_ended")


def test_trust(home: CodexHome):
    """Asked in a repository only."""
    git = home.folder / "strange" / ".git"
    for name in ("objects", "refs"):
        (git / name).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    stage = home.open_pane("strange", shows="Trust this folder?")
    tape = taped("strange", home, stage)
    tape.record_scene("trust_asked", look="waiting_approval", rule="folder_not_trusted")
    assert resolve_state_with_screen(tape.play, tape.capture_screen()).value == "waiting_approval"
    stage.press("Enter")
    tape.record_scene("trusted", osc="idle", look="idle", rule="fresh_start")


def test_settings_that_differ(home: CodexHome):
    stage = home.open_pane("differs", *WITHOUT_SERVER_ARGS, shows="3. Cancel")
    tape = taped("differs", home, stage)
    tape.record_scene("server_settings_differ", look="waiting_input", rule="server_settings_differ")


def test_alone(model: str):
    """Without the shared server: its pane, its hooks and its notify program still tell."""
    with (
        make_short_folder() as folder,
        run_private_tmux(folder) as tmux,
        open_codex_home(tmux, Path(folder) / "h", model) as home,
    ):
        stage = home.open_pane("alone", *WITHOUT_SERVER_ARGS, shows="Hooks need review")
        trust_hooks(stage)
        tape = taped("alone", home, stage)
        tape.record_scene("alone_start", osc="idle", look="idle", state="idle")
        stage.send_prompt("MODEL shell touch here")
        tape.record_scene("alone_asked", osc="waiting_approval", hook="waiting_approval", look="waiting_approval")
        stage.press("Escape")
        tape.record_scene("alone_denied", osc="idle", hook="idle", look="idle", rule="interrupted", state="idle")
        stage.send_prompt("MODEL text done")
        tape.record_scene("alone_completed", osc="completed", hook="completed", notify="completed", look="completed")
        assert "app_server" not in {one.source for one in tape.play.signals}
        assert home.listener.connection.health.status == "absent"


def test_neighbours(home: CodexHome, tape: SceneRecorder):
    """Two that share the server are told apart; two in one folder are not, and it says so."""
    other = home.open_pane("other")
    beside = taped("beside", home, other)
    other.send_prompt("MODEL stall 4")
    beside.wait_for_meaning(osc="running", app_server="running", hook="running", state="running")
    tape.wait_for_meaning(osc="idle", app_server="idle", state="idle")
    assert {one.hint.mux_pane for one in beside.play.signals if one.source == "hook"} == {None}

    second = home.open_pane("other")
    wait_until(lambda: "several Codex processes" in health(home).detail)
    second.send_prompt("MODEL text whose am I")
    second.wait_for_text("Worked for")
    crowd = wait_until(lambda: [one for one in home.listener.records if one.hint.cwd])
    assert {(one.hint.cwd, one.hint.pid) for one in crowd} == {(str(other.place.cwd), 0)}


def test_nobody_is_disturbed(home: CodexHome, tape: SceneRecorder):
    """Codex goes on calling itself what it is, though we listen."""
    tape.agent_pane.send_prompt("MODEL text who am I")
    tape.wait_for_meaning(osc="completed", app_server="completed")
    listed = home.listener.run_coroutine(home.server.send_request("thread/list", {"limit": 100}))["data"]
    assert {one["originator"] for one in listed} == {"codex-tui"}
    assert health(home).status == "well"


def trust_hooks(stage: AgentPane) -> None:
    stage.press("Down")
    stage.press("Enter")
    stage.wait_for_text("Ask Codex")


def taped(name: str, home: CodexHome, stage: AgentPane) -> SceneRecorder:
    return SceneRecorder(name, stage, ADAPTER, CodexRecordCollector(home))


def followed(home: CodexHome, thread: str) -> dict:
    asked(home, session_control.build_follow_request(thread))
    return home.listener.run_coroutine(home.server.wait_for_request(thread))


def asked(home: CodexHome, ask: session_control.RpcRequest) -> dict:
    return home.listener.run_coroutine(home.server.send_request(*ask))


def press(tape: SceneRecorder, choose) -> None:
    keys = choose(tape.capture_screen())
    assert keys is not None, tape.agent_pane.capture_text()
    tape.agent_pane.press(*keys.keys)


def health(home: CodexHome) -> SourceHealth:
    return home.listener.connection.health
