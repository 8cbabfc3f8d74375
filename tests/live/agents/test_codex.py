"""The real Codex in real panes with a scripted model: the adapter reads its records and screens correctly.

A test with the `recorder` fixture gives its name to the recorded run, so it is not renamed without new recordings.
"""

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
    """A home with a shared server that is running and connected."""
    with (
        make_short_folder() as folder,
        run_private_tmux(folder) as tmux,
        open_codex_home(tmux, Path(folder) / "h", model) as codex_home,
    ):
        first = codex_home.open_pane("first", shows="Hooks need review")
        build_recorder("first", codex_home, first).record_scene(
            "hooks_need_review", look="waiting_approval", rule="hooks_need_review"
        )
        trust_hooks(first)
        codex_home.wait_connected()
        yield codex_home


@pytest.fixture
def home(shared: CodexHome):
    """The shared home. Panes that a test opens are closed afterwards, also if it fails."""
    pane_count = len(shared.panes)
    yield shared
    for agent_pane in shared.panes[pane_count:]:
        shared.close_pane(agent_pane)


@pytest.fixture
def recorder(home: CodexHome, request):
    """Start a Codex in its own folder, named after the test, and return its recorder."""
    name = request.node.name.removeprefix("test_")
    agent_pane = home.open_pane(name)
    recorder = build_recorder(name, home, agent_pane)
    recorder.wait_for_meaning(osc="idle", app_server="idle", look="idle", rule="fresh_start", state="idle")
    return recorder


def test_turn(recorder: SceneRecorder):
    recorder.record_scene("start", osc="idle", app_server="idle", look="idle", state="idle")
    recorder.agent_pane.send_prompt("MODEL stall 3")
    recorder.record_scene(
        "working", osc="running", app_server="running", look="running", rule="working", state="running"
    )
    recorder.record_scene("completed", osc="completed", app_server="completed", look="completed", hook="completed")
    recorder.agent_pane.send_prompt("MODEL slow 4")
    recorder.record_scene("streaming", osc="running", app_server="running", look="completed", rule="answered")
    recorder.record_scene("streamed", osc="completed", app_server="completed", look="completed", state="completed")


def test_approval(home: CodexHome, recorder: SceneRecorder):
    recorder.agent_pane.send_prompt("MODEL shell touch one")
    recorder.record_scene(
        "approval_asked", osc="waiting_approval", app_server="waiting_approval", look="waiting_approval"
    )
    request = follow_session(home, recorder.get_session("app_server"))
    reply = session_control.build_decision_reply(request, "allow")
    assert home.listener.run_coroutine(home.server.send_reply(request, reply))
    assert home.listener.run_coroutine(home.server.wait_until_resolved(request))
    assert not home.listener.run_coroutine(home.server.send_reply(request, reply))
    recorder.record_scene("approved", osc="completed", app_server="completed", look="completed", state="completed")
    assert (recorder.agent_pane.place.cwd / "one").exists()

    recorder.agent_pane.send_prompt("MODEL shell touch two")
    recorder.wait_for_meaning(osc="waiting_approval", app_server="waiting_approval", look="waiting_approval")
    request = home.listener.run_coroutine(home.server.wait_for_request(recorder.get_session("app_server")))
    assert home.listener.run_coroutine(
        home.server.send_reply(request, session_control.build_decision_reply(request, "deny"))
    )
    recorder.record_scene("denied", osc="idle", app_server="idle", look="idle", rule="interrupted")
    send_request(home, session_control.build_unfollow_request(recorder.get_session("app_server")))
    assert not (recorder.agent_pane.place.cwd / "two").exists()


def test_keys(recorder: SceneRecorder):
    recorder.agent_pane.send_prompt("MODEL shell touch three")
    recorder.wait_for_meaning(osc="waiting_approval", app_server="waiting_approval", rule="approval_asked")
    press_keys(recorder, lambda screen: keyboard.find_answer_keys(screen, "allow"))
    recorder.wait_for_meaning(osc="completed", app_server="completed", look="completed")
    recorder.agent_pane.send_prompt("MODEL stall 20")
    recorder.wait_for_meaning(osc="running", app_server="running", rule="working")
    press_keys(recorder, keyboard.find_interrupt_keys)
    recorder.record_scene("interrupted", osc="idle", app_server="idle", look="idle", rule="interrupted", hook="idle")
    assert keyboard.read_composer(recorder.capture_screen()) in ("", "Ask Codex to do anything")
    assert keyboard.find_answer_keys(recorder.capture_screen(), "allow") is None


def test_another_client(home: CodexHome, recorder: SceneRecorder):
    recorder.agent_pane.send_prompt("MODEL text hello there")
    recorder.wait_for_meaning(app_server="completed", look="completed")
    turn = send_request(
        home, session_control.build_prompt_request(recorder.get_session("app_server"), "MODEL stall 20")
    )["turn"]
    recorder.record_scene("started_from_outside", osc="running", app_server="running", look="running", state="running")
    assert (
        send_request(home, session_control.build_last_turn_request(recorder.get_session("app_server")))["data"][0]["id"]
        == turn["id"]
    )
    send_request(home, session_control.build_stop_request(recorder.get_session("app_server"), turn["id"]))
    recorder.record_scene("interrupted_from_outside", osc="idle", app_server="idle", look="idle", rule="interrupted")


def test_question(recorder: SceneRecorder):
    recorder.agent_pane.send_prompt("/plan")
    recorder.agent_pane.wait_for_text("Plan mode (")
    form = (
        '{"questions":[{"id":"db","header":"DB","question":"Which one?","options":[{"label":"A","description":"a"}]}]}'
    )
    recorder.agent_pane.send_prompt(f"MODEL tool request_user_input {form}")
    recorder.record_scene("question_asked", app_server="waiting_input", look="waiting_input", state="waiting_input")


@pytest.mark.parametrize(
    ("status", "rule", "error"),
    [(401, "not_signed_in", "auth"), (429, "rate_limited", "rate_limit"), (503, "model_at_capacity", "overloaded")],
    ids=["unauthorized", "refused", "overloaded"],
)
def test_error(recorder: SceneRecorder, status: int, rule: str, error: str):
    recorder.agent_pane.send_prompt(f"MODEL fail {status}")
    recorder.record_scene(
        f"error_{status}", osc="error", app_server="error", look="error", rule=rule, auth_needed=status == 401
    )
    assert {item.payload["error"] for item in recorder.play.signals if item.payload.get("error")} == {error}


def test_retry(recorder: SceneRecorder):
    recorder.agent_pane.send_prompt("MODEL fail 500")
    recorder.record_scene(
        "retrying", osc="running", app_server="running", look="running", rule="retrying", state="running"
    )
    recorder.record_scene("error_500", osc="error", app_server="error", look="error", rule="high_demand", state="error")


def test_usage_limit(recorder: SceneRecorder):
    recorder.agent_pane.send_prompt("MODEL limit")
    limited = {"state": "error", "usage_limited": True, "resets": True}
    recorder.record_scene(
        "usage_limit_dialog", osc="error", app_server="error", look="error", rule="limit_dialog", **limited
    )
    assert keyboard.read_composer(recorder.capture_screen()) is None
    press_keys(recorder, lambda shown: keyboard.find_option_keys(shown, "Keep current model"))
    recorder.record_scene("usage_limit", look="error", rule="usage_limit_reached", **limited)
    assert "scripted-model" in recorder.agent_pane.capture_text()


def test_compaction(recorder: SceneRecorder):
    recorder.agent_pane.send_prompt("MODEL text before it is compacted")
    recorder.wait_for_meaning(osc="completed", app_server="completed")
    recorder.agent_pane.send_prompt("/compact")
    recorder.record_scene(
        "compacting", osc="running", app_server="running", look="running", rule="compacting", compacting=True
    )
    recorder.record_scene("compacted", osc="completed", app_server="completed", look="completed", compacting=False)


def test_leaving(home: CodexHome, recorder: SceneRecorder):
    recorder.agent_pane.send_prompt("MODEL text until later")
    recorder.wait_for_meaning(osc="completed", app_server="completed")
    recorder.agent_pane.press("C-c")
    recorder.record_scene("left", osc="unknown", look="unknown")
    wait_until(lambda: home.find_process(recorder.agent_pane) is None, timeout_s=STEP_TIMEOUT_S)

    command = ADAPTER.build_resume_command(recorder.get_session("app_server"))
    agent_pane = home.open_pane(recorder.run, *command[1:])
    resumed = build_recorder("resumed", home, agent_pane)
    resumed.record_scene("resumed", osc="idle", app_server="idle", look="completed", rule="turn_ended")
    agent_pane.send_prompt("MODEL stall 2")
    resumed.wait_for_meaning(osc="running", app_server="running", rollout="running", state="running")
    resumed.record_scene(
        "resumed_completed", osc="completed", app_server="completed", rollout="completed", state="completed"
    )
    os.kill(resumed.process.pid, signal.SIGKILL)
    wait_until(lambda: home.find_process(agent_pane) is None, timeout_s=STEP_TIMEOUT_S)
    resumed.record_scene("killed", look="unknown")


def test_background(recorder: SceneRecorder):
    """A command that continues after the turn is reported by marks and the screen, but not by the server."""
    command = "until [ -e go ]; do sleep 0.2; done"
    recorder.agent_pane.send_prompt(f'MODEL tool exec_command {{"cmd":"{command}","yield_time_ms":1000}}')
    shown = {"look": "running", "rule": "background_terminal"}
    recorder.record_scene("background_terminal", osc="running", app_server="completed", **shown)
    seen = resolve_state_with_screen(recorder.play, recorder.capture_screen())
    assert (seen.value, seen.flags.subtasks) == ("running", 1)
    (recorder.agent_pane.place.cwd / "go").touch()
    recorder.record_scene("background_terminal_ended", osc="completed", look="completed", rule="turn_ended")


def test_an_untrusted_folder_is_detected_and_trusted(home: CodexHome):
    """Codex asks for trust only in a repository."""
    git = home.folder / "strange" / ".git"
    for name in ("objects", "refs"):
        (git / name).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    agent_pane = home.open_pane("strange", shows="Trust this folder?")
    recorder = build_recorder("strange", home, agent_pane)
    recorder.record_scene("trust_asked", look="waiting_approval", rule="folder_not_trusted")
    assert resolve_state_with_screen(recorder.play, recorder.capture_screen()).value == "waiting_approval"
    agent_pane.press("Enter")
    recorder.record_scene("trusted", osc="idle", look="idle", rule="fresh_start")


def test_differing_server_settings_are_a_waiting_state(home: CodexHome):
    agent_pane = home.open_pane("differs", *WITHOUT_SERVER_ARGS, shows="3. Cancel")
    recorder = build_recorder("differs", home, agent_pane)
    recorder.record_scene("server_settings_differ", look="waiting_input", rule="server_settings_differ")


def test_codex_without_a_shared_server_is_tracked(model: str):
    """Without the shared server, its pane, hooks and notify program still report."""
    with (
        make_short_folder() as folder,
        run_private_tmux(folder) as tmux,
        open_codex_home(tmux, Path(folder) / "h", model) as home,
    ):
        agent_pane = home.open_pane("alone", *WITHOUT_SERVER_ARGS, shows="Hooks need review")
        trust_hooks(agent_pane)
        recorder = build_recorder("alone", home, agent_pane)
        recorder.record_scene("alone_start", osc="idle", look="idle", state="idle")
        agent_pane.send_prompt("MODEL shell touch here")
        recorder.record_scene("alone_asked", osc="waiting_approval", hook="waiting_approval", look="waiting_approval")
        agent_pane.press("Escape")
        recorder.record_scene("alone_denied", osc="idle", hook="idle", look="idle", rule="interrupted", state="idle")
        agent_pane.send_prompt("MODEL text done")
        recorder.record_scene(
            "alone_completed", osc="completed", hook="completed", notify="completed", look="completed"
        )
        assert "app_server" not in {item.source for item in recorder.play.signals}
        assert home.listener.connection.health.status == "absent"


def test_neighbours(home: CodexHome, recorder: SceneRecorder):
    """Two that share the server are distinguished; two in one folder are not, and that is reported."""
    other = home.open_pane("other")
    other_recorder = build_recorder("beside", home, other)
    other.send_prompt("MODEL stall 4")
    other_recorder.wait_for_meaning(osc="running", app_server="running", hook="running", state="running")
    recorder.wait_for_meaning(osc="idle", app_server="idle", state="idle")
    assert {item.hint.mux_pane for item in other_recorder.play.signals if item.source == "hook"} == {None}

    second = home.open_pane("other")
    wait_until(lambda: "several Codex processes" in get_health(home).detail)
    second.send_prompt("MODEL text whose am I")
    second.wait_for_text("Worked for")
    unattributed = wait_until(lambda: [item for item in home.listener.records if item.hint.cwd])
    assert {(item.hint.cwd, item.hint.pid) for item in unattributed} == {(str(other.place.cwd), 0)}


def test_originator(home: CodexHome, recorder: SceneRecorder):
    """Codex keeps its own originator while Termvisor is connected to its server."""
    recorder.agent_pane.send_prompt("MODEL text who am I")
    recorder.wait_for_meaning(osc="completed", app_server="completed")
    listed = home.listener.run_coroutine(home.server.send_request("thread/list", {"limit": 100}))["data"]
    assert {item["originator"] for item in listed} == {"codex-tui"}
    assert get_health(home).status == "well"


def trust_hooks(agent_pane: AgentPane) -> None:
    agent_pane.press("Down")
    agent_pane.press("Enter")
    agent_pane.wait_for_text("Ask Codex")


def build_recorder(name: str, home: CodexHome, agent_pane: AgentPane) -> SceneRecorder:
    return SceneRecorder(name, agent_pane, ADAPTER, CodexRecordCollector(home))


def follow_session(home: CodexHome, thread: str) -> dict:
    send_request(home, session_control.build_follow_request(thread))
    return home.listener.run_coroutine(home.server.wait_for_request(thread))


def send_request(home: CodexHome, request: session_control.RpcRequest) -> dict:
    return home.listener.run_coroutine(home.server.send_request(*request))


def press_keys(recorder: SceneRecorder, choose) -> None:
    keys = choose(recorder.capture_screen())
    assert keys is not None, recorder.agent_pane.capture_text()
    recorder.agent_pane.press(*keys.keys)


def get_health(home: CodexHome) -> SourceHealth:
    return home.listener.connection.health
