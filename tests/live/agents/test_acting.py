"""The real agents are spoken to: prompts, interrupts, answers by keys, the way out and the way back in."""

from pathlib import Path

import pytest

from tests.live.agents.company import Company, company
from tests.live.agents.lab import CLAUDE, CODEX, COPILOT
from tests.live.agents.model.server import model_server
from tests.live.waiting import until

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def model():
    with model_server() as address:
        yield address


@pytest.fixture
def claude(model):
    with company(CLAUDE, model, "mode on", settings={"agent_inbox": "native"}) as one:
        assert one.pane
        yield one


def test_claude_code_is_prompted_interrupted_answered_and_left(claude: Company) -> None:
    pane = claude.pane
    until(lambda: claude.state() == "idle")
    sent = claude.act("send", pane, "MODEL slow 30")
    assert (sent["status"], sent["channel"]) == ("delivered", "keys")
    until(lambda: claude.state() == "running")
    done = claude.act("interrupt", pane)
    assert (done["status"], done["why"], done["channel"]) == ("done", "interrupted", "keys")
    until(lambda: claude.state() == "idle")

    assert claude.refused("interrupt", pane) == "not_at_work"
    claude.stage.rests()  # a prompt to which nothing was said yet comes back into the composer
    claude.act("send-keys", pane, "C-u")
    claude.stage.rests()
    claude.act("send", pane, "MODEL shell touch made")
    claude.stage.shows("Do you want to proceed?")
    assert claude.refused("send", pane, "hello") == "dialog_open"
    assert claude.refused("answer", pane, "No such choice") == "no_such_choice"
    done = claude.act("answer", pane, "allow")
    assert (done["status"], done["why"]) == ("done", "dialog_left")
    claude.stage.shows("The tool has finished")
    assert claude.file("made").exists()

    until(lambda: claude.state() in ("completed", "idle"))
    claude.act("send", pane, "MODEL shell touch other")
    claude.stage.shows("Do you want to proceed?")
    assert claude.act("answer", pane, "deny")["status"] == "done"
    assert not claude.file("other").exists()
    until(lambda: claude.state() == "idle")

    claude.act("send", pane, "--no-newline", "half a thought")
    assert claude.refused("send", pane, "hello") == "composer_not_empty"
    assert claude.refused("quit", pane) == "composer_not_empty"
    claude.act("send-keys", pane, "C-u")
    claude.stage.rests()
    foreseen = claude.act("quit", pane, "--dry-run")
    assert foreseen["status"] == "foreseen"
    assert claude.act("quit", pane)["why"] == "left"
    claude.stage.shows("--resume")


def test_codex_is_prompted_and_interrupted_by_its_server(model: str) -> None:
    with company(CODEX, model, "Ask Codex") as codex:
        pane = codex.pane
        until(lambda: not codex.foreseen("send", pane, "hello")["refused"])
        first = codex.act("send", pane, "MODEL text hello there")
        assert (first["status"], first["channel"]) == ("delivered", "keys")
        codex.stage.shows("Worked for")
        until(lambda: codex.heard_by_server(), seconds=40)
        sent = codex.act("send", pane, "/is this a file or a command? MODEL slow 40")
        assert (sent["status"], sent["why"], sent["channel"]) == ("delivered", "turn_started", "native")
        until(lambda: codex.state() == "running")
        done = codex.act("interrupt", pane)
        assert (done["status"], done["why"], done["channel"]) == ("done", "interrupted", "native")
        codex.stage.shows("Conversation interrupted")
        until(lambda: codex.state() == "idle")
        assert codex.act("quit", pane)["why"] == "left"
        session = until(lambda: [one for one in codex.sessions() if one["ended_at"]])[0]
        codex.act("resume", str(session["id"]), "--dry-run")


@pytest.mark.parametrize(
    ("program", "ready", "words"),
    [
        (CLAUDE, "mode on", "claude_code :: {} --resume {{session}}"),
        (CODEX, "Ask Codex", "codex :: {} resume {{session}}"),
    ],
    ids=("claude_code", "codex"),
)
def test_a_session_that_was_left_lives_again_in_a_new_window(model: str, tmp_path: Path, program, ready, words) -> None:
    word = tmp_path / program.name
    with company(program, model, ready, settings={"agent_resume": words.format(word)}) as agent:
        word.write_text(f'#!/bin/sh\n{program.command(agent.stage.place)} "$@"\n')
        word.chmod(0o755)
        pane = agent.pane
        until(lambda: not agent.foreseen("send", pane, "hello")["refused"], seconds=60)
        agent.act("send", pane, "MODEL text I remember")
        until(lambda: agent.state() in ("completed", "idle"), seconds=60)
        session = until(lambda: [one["external_id"] for one in agent.sessions() if one["external_id"]], seconds=40)[0]
        assert agent.refused_in("resume", session) == f"this session goes on in pane {pane}"
        until(lambda: not agent.foreseen("quit", pane)["refused"], seconds=40)
        assert agent.act("quit", pane)["why"] == "left"
        until(lambda: all(one["ended_at"] for one in agent.sessions()), seconds=40)
        done = agent.act("resume", session)
        again = until(
            lambda: [one for one in agent.sessions() if not one["ended_at"] and one["external_id"]], seconds=40
        )
        assert (again[0]["external_id"], again[0]["identity"]["id"]) == (session, done["new"]["id"])
        assert again[0]["identity"]["id"] != int(pane)


def test_copilot_is_answered_from_the_inbox(model: str) -> None:
    with company(COPILOT, model, "? help", hooks="copilot") as copilot:
        assert copilot.pane
        copilot.stage.prompt("MODEL shell touch made")
        asked = copilot.asked()
        assert (asked["action"]["agent"], asked["action"]["command"]) == ("copilot", "touch made")
        copilot.person(f"approve {asked['id']}", "is allowed")
        until(lambda: copilot.file("made").exists())
        until(lambda: copilot.state() == "completed")
        copilot.stage.prompt("MODEL shell touch other")
        asked = copilot.asked()
        copilot.visor.visor("deny", str(asked["id"]))
        until(lambda: "Do you want to run" not in copilot.stage.text())
        assert not copilot.file("other").exists()


def test_a_rule_answers_copilot_before_its_dialog(model: str) -> None:
    with company(COPILOT, model, "? help", hooks="copilot") as copilot:
        assert copilot.pane
        when = 'when = { kind = ["answer_agent"], program = ["%s"] }\n'
        allow = '[[rule]]\nid = "touching"\nanswer = "allow"\n' + when % "touch"
        copilot.rule(allow + '[[rule]]\nid = "naming"\nanswer = "deny"\n' + when % "uname")
        copilot.stage.prompt("MODEL shell touch made")
        copilot.stage.shows("The tool has finished")
        assert copilot.file("made").exists()
        copilot.stage.prompt("MODEL shell uname > other")
        until(lambda: copilot.state() in ("completed", "idle"))
        assert not copilot.file("other").exists()
        assert copilot.states() == []
