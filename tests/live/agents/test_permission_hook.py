"""The real Claude Code, set up by `visor setup agents`, asks: a person answers from elsewhere, or does not."""

import json
import os
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from termvisor.agents.adapters.claude_code import keyboard as channel
from termvisor.testing.instance import Instance, instance
from termvisor.testing.tmux import private_tmux, short_folder
from tests.compiled import lend
from tests.live.agents.claude_stage import ClaudeStage
from tests.live.agents.lab import CLAUDE, Workplace
from tests.live.agents.model.server import model_server
from tests.live.looking import look
from tests.live.waiting import until

pytestmark = pytest.mark.live
DIALOG = "Do you want to proceed?"


@pytest.fixture(scope="module")
def model():
    with model_server() as address:
        yield address


@dataclass
class Watched:
    """An agent in a pane that is watched, and the person who has ``visor`` elsewhere."""

    visor: Instance
    stage: ClaudeStage

    def asked(self) -> dict:
        """The open question, once there is one."""
        return until(lambda: look(self.visor, "inbox")["items"])[0]

    def states(self) -> list[str]:
        return [item["state"] for item in look(self.visor, "inbox", "--all")["items"]]

    def open_files(self) -> list[str]:
        """What it asks to read."""
        return [json.loads(item["action"]["given"])["file_path"] for item in look(self.visor, "inbox")["items"]]

    def shown_file(self, files: tuple[str, ...]) -> str:
        """The one that its dialog is about; empty while none is shown."""
        shown = self.stage.text()
        return next((file for file in files if f"Read({file})" in shown and DIALOG in shown), "")

    def story(self, correlation: str) -> list[tuple[str, str]]:
        items = look(self.visor, "audit", "--limit", "50")["items"]
        return [(item["stage"], item["outcome"]) for item in items if item["correlation"] == correlation]

    def allow_in_dialog(self) -> None:
        """As a person at the pane."""
        self.stage.shows(DIALOG)
        self.stage.obey(lambda screen: channel.answer(screen, "allow"))

    def made(self, name: str) -> bool:
        return (self.stage.place.cwd / name).exists()


@contextmanager
def watched(model: str) -> Iterator[Watched]:
    with short_folder() as folder, private_tmux(folder) as tmux, instance(folder, tmux.socket) as visor:
        lend(visor.places)
        place = Workplace(Path(folder) / "claude", model)
        place.folder.mkdir()
        CLAUDE.settle(place)
        visor.env = {**visor.env, "HOME": str(place.home)}
        visor.visor("setup", "agents", "--agent", "claude_code", "--yes")
        stage = ClaudeStage(tmux, place, CLAUDE)
        stage.start()
        visor.up()
        yield Watched(visor, stage)


def said_at_a_terminal(visor: Instance, words: str, awaited: str) -> str:
    """What a person reads who types this at a terminal that nobody watches."""
    with short_folder() as folder, private_tmux(folder) as own:
        known = {**visor.env, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        given = " ".join(shlex.quote(f"{name}={value}") for name, value in known.items())
        pane = own.start("own", f"exec env {given} sh -c '{sys.executable} -m termvisor {words}; exec cat'", width=200)

        def screen() -> str:
            return own("capture-pane", "-p", "-J", "-t", pane)

        return until(lambda: shown if awaited in (shown := screen()) else "")


@pytest.fixture
def agent(model):
    with watched(model) as one:
        yield one


def test_a_person_allows_it_from_elsewhere_and_it_is_done_once(agent: Watched) -> None:
    agent.stage.prompt("MODEL shell echo once >> made")
    asked = agent.asked()
    assert (asked["kind"], asked["action"]["tool"], asked["action"]["command"]) == (
        "answer_agent",
        "Bash",
        "echo once >> made",
    )
    assert asked["by"].startswith("agent ")
    assert "claude_code" in asked["by"]
    assert asked["pane"] is not None
    assert "is allowed" in said_at_a_terminal(agent.visor, f"approve {asked['id']}", "is allowed")
    agent.stage.shows("The tool has finished")
    assert (agent.stage.place.cwd / "made").read_text() == "once\n"
    assert agent.story(asked["correlation"]) == [
        ("asked", ""),
        ("answered", "allow"),
        ("intent", ""),
        ("outcome", "done"),
    ]
    assert agent.states() == ["used"]


def test_a_person_denies_it_from_elsewhere(agent: Watched) -> None:
    agent.stage.prompt("MODEL shell touch made")
    asked = agent.asked()
    agent.visor.visor("deny", str(asked["id"]))
    until(lambda: DIALOG not in agent.stage.text())
    assert not agent.made("made")
    assert agent.story(asked["correlation"])[-1] == ("outcome", "denied")


def test_an_answer_in_its_own_dialog_withdraws_the_question(agent: Watched) -> None:
    agent.stage.prompt("MODEL shell touch made")
    asked = agent.asked()
    agent.allow_in_dialog()
    until(lambda: agent.made("made"))
    until(lambda: agent.states() == ["withdrawn"])
    assert agent.story(asked["correlation"])[-1] == ("outcome", "refused")


def test_of_several_requests_at_once_each_is_withdrawn_with_its_own_answer(agent: Watched) -> None:
    files = ("/etc/hostname", "/etc/hosts", "/etc/passwd")
    agent.stage.prompt("MODEL tools " + " ;; ".join(f'Read {{"file_path":"{file}"}}' for file in files))
    until(lambda: sorted(agent.open_files()) == sorted(files))
    first = until(lambda: agent.shown_file(files))
    agent.stage.rests()  # a dialog that has only just appeared swallows keys
    agent.stage.press("1")
    until(lambda: sorted(agent.open_files()) == sorted(set(files) - {first}))
    second = until(lambda: agent.shown_file(tuple(agent.open_files())))
    (asked,) = [item for item in look(agent.visor, "inbox")["items"] if second not in item["action"]["given"]]
    assert said_at_a_terminal(agent.visor, f"approve {asked['id']}", "is allowed")
    until(lambda: agent.open_files() == [second])
    agent.stage.rests()
    agent.stage.press("1")
    agent.stage.shows("The tool has finished")
    until(lambda: sorted(agent.states()) == ["used", "withdrawn", "withdrawn"])


def test_a_rule_answers_at_once_and_nobody_is_asked(agent: Watched) -> None:
    rule = '[[rule]]\nid = "touching"\nanswer = "allow"\nwhen = { kind = ["answer_agent"], program = ["touch"] }\n'
    folder = agent.visor.places.config_dir
    os.makedirs(folder, exist_ok=True)
    Path(folder, "policy.toml").write_text(rule)
    agent.stage.prompt("MODEL shell touch made")
    agent.stage.shows("The tool has finished")
    assert agent.made("made")
    assert agent.states() == []


def test_a_daemon_that_is_killed_meanwhile_leaves_it_to_the_dialog(agent: Watched) -> None:
    agent.stage.prompt("MODEL shell touch made")
    agent.asked()
    agent.visor.kill_daemon(signal.SIGKILL)
    agent.stage.shows(DIALOG)
    assert not agent.made("made")
    agent.allow_in_dialog()
    agent.stage.shows("The tool has finished")
    assert agent.made("made")
    assert agent.states() == ["withdrawn"]


def test_without_a_daemon_nothing_is_lost_and_nothing_waits(agent: Watched) -> None:
    agent.visor.down()
    spool = Path(agent.visor.places.spool_dir, "hooks.jsonl")
    agent.stage.prompt("MODEL shell touch made")
    agent.allow_in_dialog()
    agent.stage.shows("The tool has finished")
    until(lambda: '"event":"Stop"' in spool.read_text())
    agent.visor.up()
    until(lambda: any(item["records"] for item in _hook_sources(agent)))


def _hook_sources(agent: Watched) -> list[dict]:
    return [item for item in look(agent.visor, "list-sources")["items"] if item["source"] == "hook"]
