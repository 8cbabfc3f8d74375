"""Actions on real agents: prompt, interrupt, answer, quit and resume."""

from pathlib import Path

import pytest

from tests.live.agents.agent_programs import CLAUDE, CODEX, COPILOT, OPENCODE
from tests.live.agents.model.server import run_model_server
from tests.live.agents.watched_agent import WatchedAgent, start_watched_agent
from tests.live.polling import wait_until

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def model():
    with run_model_server() as address:
        yield address


@pytest.fixture
def claude(model):
    with start_watched_agent(CLAUDE, model, "mode on", settings={"agent_inbox": "native"}) as agent:
        assert agent.pane
        yield agent


def test_claude_code_is_prompted_interrupted_answered_and_quit_by_keys(claude: WatchedAgent) -> None:
    pane = claude.pane
    wait_until(lambda: claude.get_state() == "idle")
    sent = claude.run_allowed("send", pane, "MODEL slow 30")
    assert (sent["status"], sent["channel"]) == ("delivered", "keys")
    wait_until(lambda: claude.get_state() == "running")
    done = claude.run_allowed("interrupt", pane)
    assert (done["status"], done["why"], done["channel"]) == ("done", "interrupted", "keys")
    wait_until(lambda: claude.get_state() == "idle")

    assert claude.get_refusal_reason("interrupt", pane) == "not_at_work"
    claude.agent_pane.wait_until_still()  # an unanswered prompt returns to the composer
    claude.run_allowed("send-keys", pane, "C-u")
    claude.agent_pane.wait_until_still()
    claude.run_allowed("send", pane, "MODEL shell touch made")
    claude.agent_pane.wait_for_text("Do you want to proceed?")
    assert claude.get_refusal_reason("send", pane, "hello") == "dialog_open"
    assert claude.get_refusal_reason("answer", pane, "No such choice") == "no_such_choice"
    done = claude.run_allowed("answer", pane, "allow")
    assert (done["status"], done["why"]) == ("done", "dialog_left")
    claude.agent_pane.wait_for_text("The tool has finished")
    assert claude.get_path("made").exists()

    wait_until(lambda: claude.get_state() in ("completed", "idle"))
    claude.run_allowed("send", pane, "MODEL shell touch other")
    claude.agent_pane.wait_for_text("Do you want to proceed?")
    assert claude.run_allowed("answer", pane, "deny")["status"] == "done"
    assert not claude.get_path("other").exists()
    wait_until(lambda: claude.get_state() == "idle")

    claude.run_allowed("send", pane, "--no-newline", "half a thought")
    assert claude.get_refusal_reason("send", pane, "hello") == "composer_not_empty"
    assert claude.get_refusal_reason("quit", pane) == "composer_not_empty"
    claude.run_allowed("send-keys", pane, "C-u")
    claude.agent_pane.wait_until_still()
    planned = claude.run_allowed("quit", pane, "--dry-run")
    assert planned["status"] == "foreseen"
    assert claude.run_allowed("quit", pane)["why"] == "left"
    claude.agent_pane.wait_for_text("--resume")


@pytest.mark.parametrize(
    ("program", "ready"), [(CLAUDE, "mode on"), (OPENCODE, "Ask anything")], ids=("claude_code", "opencode")
)
def test_a_working_agent_queues_what_it_is_sent(model: str, program, ready: str) -> None:
    with start_watched_agent(program, model, ready) as agent:
        pane = agent.pane
        wait_until(lambda: not agent.dry_run("send", pane, "hello")["refused"], timeout_s=60)
        agent.run_allowed("send", pane, "MODEL slow 6")
        wait_until(lambda: agent.get_state() == "running")
        for text in ("check the second file", "and a third thing"):
            sent = agent.run_allowed("send", pane, text)
            assert (sent["status"], sent["why"], sent["channel"]) == ("queued", "in_queue", "keys")
        agent.agent_pane.wait_for_text("Hello from the scripted model")


def test_codex_is_prompted_and_interrupted_through_its_server(model: str) -> None:
    with start_watched_agent(CODEX, model, "Ask Codex") as codex:
        pane = codex.pane
        wait_until(lambda: not codex.dry_run("send", pane, "hello")["refused"])
        first = codex.run_allowed("send", pane, "MODEL text hello there")
        assert (first["status"], first["channel"]) == ("delivered", "keys")
        codex.agent_pane.wait_for_text("Worked for")
        wait_until(lambda: codex.is_server_connected(), timeout_s=40)
        sent = codex.run_allowed("send", pane, "/is this a file or a command? MODEL slow 40")
        assert (sent["status"], sent["why"], sent["channel"]) == ("delivered", "turn_started", "native")
        wait_until(lambda: codex.get_state() == "running")
        done = codex.run_allowed("interrupt", pane)
        assert (done["status"], done["why"], done["channel"]) == ("done", "interrupted", "native")
        codex.agent_pane.wait_for_text("Conversation interrupted")
        wait_until(lambda: codex.get_state() == "idle")
        assert codex.run_allowed("quit", pane)["why"] == "left"
        session = wait_until(
            lambda: [session_item for session_item in codex.list_sessions() if session_item["ended_at"]]
        )[0]
        codex.run_allowed("resume", str(session["id"]), "--dry-run")


@pytest.mark.parametrize(
    ("program", "ready", "words"),
    [
        (CLAUDE, "mode on", "claude_code :: {} --resume {{session}}"),
        (CODEX, "Ask Codex", "codex :: {} resume {{session}}"),
    ],
    ids=("claude_code", "codex"),
)
def test_a_session_that_was_quit_is_resumed_in_a_new_window(model: str, tmp_path: Path, program, ready, words) -> None:
    script = tmp_path / program.name
    with start_watched_agent(program, model, ready, settings={"agent_resume": words.format(script)}) as agent:
        script.write_text(f'#!/bin/sh\n{program.build_command(agent.agent_pane.place)} "$@"\n')
        script.chmod(0o755)
        pane = agent.pane
        wait_until(lambda: not agent.dry_run("send", pane, "hello")["refused"], timeout_s=60)
        agent.run_allowed("send", pane, "MODEL text I remember")
        wait_until(lambda: agent.get_state() in ("completed", "idle"), timeout_s=60)
        session = wait_until(
            lambda: [
                session_item["external_id"] for session_item in agent.list_sessions() if session_item["external_id"]
            ],
            timeout_s=40,
        )[0]
        assert agent.get_refusal_message("resume", session).endswith(f"is already running in pane {pane}")
        wait_until(lambda: not agent.dry_run("quit", pane)["refused"], timeout_s=40)
        assert agent.run_allowed("quit", pane)["why"] == "left"
        wait_until(lambda: all(session_item["ended_at"] for session_item in agent.list_sessions()), timeout_s=40)
        done = agent.run_allowed("resume", session)
        open_sessions = wait_until(
            lambda: [
                session_item
                for session_item in agent.list_sessions()
                if not session_item["ended_at"] and session_item["external_id"]
            ],
            timeout_s=40,
        )
        assert (open_sessions[0]["external_id"], open_sessions[0]["identity"]["id"]) == (session, done["new"]["id"])
        assert open_sessions[0]["identity"]["id"] != int(pane)


def test_opencode_is_answered_by_keys_whichever_option_is_selected(model: str) -> None:
    with start_watched_agent(OPENCODE, model, "Ask anything", settings={"agent_inbox": "native"}) as opencode:
        pane = opencode.pane
        for number, moves in enumerate(((), ("Right",), ("Left",))):
            opencode.agent_pane.send_prompt(f"MODEL shell touch made{number}")
            opencode.agent_pane.wait_for_text("Permission required")
            opencode.agent_pane.press(*moves or ("Right", "Left"))
            done = opencode.run_allowed("answer", pane, "allow")
            assert (done["status"], done["why"], done["channel"]) == ("done", "dialog_left", "keys")
            wait_until(opencode.get_path(f"made{number}").exists)
            wait_until(lambda: opencode.get_state() in ("completed", "idle"))


def test_copilot_requests_are_answered_from_the_inbox(model: str) -> None:
    with start_watched_agent(COPILOT, model, "? help", hooks="copilot") as copilot:
        assert copilot.pane
        copilot.agent_pane.send_prompt("MODEL shell touch made")
        request = copilot.wait_for_approval()
        assert (request["action"]["agent"], request["action"]["command"]) == ("copilot", "touch made")
        copilot.run_in_user_terminal(f"approve {request['id']}", " approved")
        wait_until(lambda: copilot.get_path("made").exists())
        wait_until(lambda: copilot.get_state() == "completed")
        copilot.agent_pane.send_prompt("MODEL shell touch other")
        request = copilot.wait_for_approval()
        copilot.visor.run_checked("deny", str(request["id"]))
        wait_until(lambda: "Do you want to run" not in copilot.agent_pane.capture_text())
        assert not copilot.get_path("other").exists()


def test_a_policy_rule_answers_copilot_before_its_dialog(model: str) -> None:
    with start_watched_agent(COPILOT, model, "? help", hooks="copilot") as copilot:
        assert copilot.pane
        when = 'when = { kind = ["answer_agent"], program = ["%s"] }\n'
        allow = '[[rule]]\nid = "touching"\nanswer = "allow"\n' + when % "touch"
        copilot.write_policy(allow + '[[rule]]\nid = "naming"\nanswer = "deny"\n' + when % "uname")
        copilot.agent_pane.send_prompt("MODEL shell touch made")
        copilot.agent_pane.wait_for_text("The tool has finished")
        assert copilot.get_path("made").exists()
        copilot.agent_pane.send_prompt("MODEL shell uname > other")
        wait_until(lambda: copilot.get_state() in ("completed", "idle"))
        assert not copilot.get_path("other").exists()
        assert copilot.list_approval_states() == []
