"""The bridge with a real daemon, a real tmux and a real dialog of an agent."""

import json
import os
import signal
from pathlib import Path

import pytest

from tests.live.agents.agent_programs import CLAUDE
from tests.live.agents.model.server import run_model_server
from tests.live.agents.watched_agent import start_watched_agent
from tests.live.conftest import WatchedTmux
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot
from tests.unit.frontends.mcp.test_bridge import run_bridge

pytestmark = pytest.mark.live
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def test_a_long_answer_is_cut_and_continued_also_after_a_kill(scene: WatchedTmux) -> None:
    mux_id = scene.tmux.start_session("long", "sh")
    pane = scene.wait_until_captured(mux_id)
    scene.tmux.type_line(mux_id, "seq 1 150000; exec sleep 600")
    wait_until(lambda: call_robot(scene.visor, "get-text", str(pane), "--tail", "1")["text"] == "150000")
    with run_bridge(scene.visor.paths, **scene.visor.env) as bridge:
        page = bridge.call("get_text", pane=pane, tail=100_000)
        assert len(page.encode()) <= 40_000
        os.kill(scene.visor.daemon_pid, signal.SIGKILL)
        lines = []
        while 'cursor="' in page:
            lines += [line for line in page.splitlines() if line.isdecimal()]
            page = bridge.call("get_text", pane=pane, cursor=page.partition('cursor="')[2].partition('"')[0])
        lines += [line for line in page.splitlines() if line.isdecimal()]
        assert lines == [str(number) for number in range(50_001, 150_001)]
        # Started again by the first call that needs it.
        assert "long" in bridge.call("panes")


def test_subscribers_hear_of_panes_and_requests(scene: WatchedTmux) -> None:
    mux_id = scene.tmux.start_session("work", "bash --norc")
    pane = scene.wait_until_captured(mux_id)
    wanted = {"resourceSubscriptions": ["visor://inbox", f"visor://pane/{pane}/text"]}
    with run_bridge(scene.visor.paths, **scene.visor.env) as bridge:
        listening = bridge.write("subscriptions/listen", notifications=wanted, _meta=MODERN)
        changed = [bridge.read()["params"] for _ in range(3)]
        # The acknowledgement, then both: what happened before is unknown.
        assert {one.get("uri") for one in changed} == {None, *wanted["resourceSubscriptions"]}
        scene.visor.run("robot", "send", str(pane), "--at-prompt", "echo asked")
        assert bridge.read()["params"]["uri"] == "visor://inbox"
        scene.tmux.type_line(mux_id, "echo heard")
        assert bridge.read()["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": listening}


def test_an_answer_to_a_dialog_is_asked_for_under_an_allow_rule() -> None:
    with run_model_server() as model, start_watched_agent(CLAUDE, model, "mode on") as claude:
        claude.write_policy('[[rule]]\nid = "all"\nanswer = "allow"\nwhen = { actor = ["mcp"] }\n')
        claude.agent_pane.send_prompt("MODEL shell touch made")
        claude.agent_pane.wait_for_text("Do you want to proceed?")
        wait_until(lambda: claude.get_state() == "waiting_approval", timeout_s=60)
        with run_bridge(claude.visor.paths, **claude.visor.env) as bridge:
            refused = bridge.call("answer", pane=claude.pane, choice="allow", format="json")
            error = json.loads(refused)["error"]
            assert error["code"] == "needs_approval"
            assert not claude.get_path("made").exists()
            claude.run_in_user_terminal(f"approve {error['details']['question']}", "approved")
            assert "error" not in bridge.call("answer", pane=claude.pane, choice="allow")
            wait_until(Path(claude.get_path("made")).exists)
