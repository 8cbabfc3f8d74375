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

from termvisor.agents.adapters.claude_code import keyboard
from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import VisorInstance, run_instance
from tests.live.agents.agent_programs import CLAUDE, AgentFolders
from tests.live.agents.claude_pane import ClaudePane
from tests.live.agents.model.server import run_model_server
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot
from tests.pattern_cache import install_pattern_cache

pytestmark = pytest.mark.live
DIALOG = "Do you want to proceed?"


@pytest.fixture(scope="module")
def model():
    with run_model_server() as address:
        yield address


@dataclass
class Watched:
    """An agent in a pane that is watched, and the person who has ``visor`` elsewhere."""

    visor: VisorInstance
    stage: ClaudePane

    def asked(self) -> dict:
        """The open question, once there is one."""
        return wait_until(lambda: call_robot(self.visor, "inbox")["items"])[0]

    def states(self) -> list[str]:
        return [item["state"] for item in call_robot(self.visor, "inbox", "--all")["items"]]

    def open_files(self) -> list[str]:
        """What it asks to read."""
        return [json.loads(item["action"]["given"])["file_path"] for item in call_robot(self.visor, "inbox")["items"]]

    def shown_file(self, files: tuple[str, ...]) -> str:
        """The one that its dialog is about; empty while none is shown."""
        shown = self.stage.capture_text()
        return next((file for file in files if f"Read({file})" in shown and DIALOG in shown), "")

    def story(self, correlation: str) -> list[tuple[str, str]]:
        items = call_robot(self.visor, "audit", "--limit", "50")["items"]
        return [(item["stage"], item["outcome"]) for item in items if item["correlation"] == correlation]

    def allow_in_dialog(self) -> None:
        """As a person at the pane."""
        self.stage.wait_for_text(DIALOG)
        self.stage.press_until_answered(lambda screen: keyboard.find_answer_keys(screen, "allow"))

    def made(self, name: str) -> bool:
        return (self.stage.place.cwd / name).exists()


@contextmanager
def watched(model: str) -> Iterator[Watched]:
    with make_short_folder() as folder, run_private_tmux(folder) as tmux, run_instance(folder, tmux.socket) as visor:
        install_pattern_cache(visor.paths)
        place = AgentFolders(Path(folder) / "claude", model)
        place.folder.mkdir()
        CLAUDE.prepare(place)
        visor.env = {**visor.env, "HOME": str(place.home)}
        visor.run_checked("setup", "agents", "--agent", "claude_code", "--yes")
        stage = ClaudePane(tmux, place, CLAUDE)
        stage.start()
        visor.start()
        yield Watched(visor, stage)


def said_at_a_terminal(visor: VisorInstance, words: str, awaited: str) -> str:
    """What a person reads who types this at a terminal that nobody watches."""
    with make_short_folder() as folder, run_private_tmux(folder) as own:
        known = {**visor.env, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        given = " ".join(shlex.quote(f"{name}={value}") for name, value in known.items())
        pane = own.start_session(
            "own", f"exec env {given} sh -c '{sys.executable} -m termvisor {words}; exec cat'", width=200
        )

        def screen() -> str:
            return own("capture-pane", "-p", "-J", "-t", pane)

        return wait_until(lambda: shown if awaited in (shown := screen()) else "")


@pytest.fixture
def agent(model):
    with watched(model) as one:
        yield one


def test_a_person_allows_it_from_elsewhere_and_it_is_done_once(agent: Watched) -> None:
    agent.stage.send_prompt("MODEL shell echo once >> made")
    asked = agent.asked()
    assert (asked["kind"], asked["action"]["tool"], asked["action"]["command"]) == (
        "answer_agent",
        "Bash",
        "echo once >> made",
    )
    assert asked["by"].startswith("agent ")
    assert "claude_code" in asked["by"]
    assert asked["pane"] is not None
    assert " approved" in said_at_a_terminal(agent.visor, f"approve {asked['id']}", " approved")
    agent.stage.wait_for_text("The tool has finished")
    assert (agent.stage.place.cwd / "made").read_text() == "once\n"
    assert agent.story(asked["correlation"]) == [
        ("asked", ""),
        ("answered", "allow"),
        ("intent", ""),
        ("outcome", "done"),
    ]
    assert agent.states() == ["used"]


def test_a_person_denies_it_from_elsewhere(agent: Watched) -> None:
    agent.stage.send_prompt("MODEL shell touch made")
    asked = agent.asked()
    agent.visor.run_checked("deny", str(asked["id"]))
    wait_until(lambda: DIALOG not in agent.stage.capture_text())
    assert not agent.made("made")
    assert agent.story(asked["correlation"])[-1] == ("outcome", "denied")


def test_an_answer_in_its_own_dialog_withdraws_the_question(agent: Watched) -> None:
    agent.stage.send_prompt("MODEL shell touch made")
    asked = agent.asked()
    agent.allow_in_dialog()
    wait_until(lambda: agent.made("made"))
    wait_until(lambda: agent.states() == ["withdrawn"])
    assert agent.story(asked["correlation"])[-1] == ("outcome", "refused")


def test_of_several_requests_at_once_each_is_withdrawn_with_its_own_answer(agent: Watched) -> None:
    files = ("/etc/hostname", "/etc/hosts", "/etc/passwd")
    agent.stage.send_prompt("MODEL tools " + " ;; ".join(f'Read {{"file_path":"{file}"}}' for file in files))
    wait_until(lambda: sorted(agent.open_files()) == sorted(files))
    first = wait_until(lambda: agent.shown_file(files))
    agent.stage.wait_until_still()  # a dialog that has only just appeared swallows keys
    agent.stage.press("1")
    wait_until(lambda: sorted(agent.open_files()) == sorted(set(files) - {first}))
    second = wait_until(lambda: agent.shown_file(tuple(agent.open_files())))
    (asked,) = [item for item in call_robot(agent.visor, "inbox")["items"] if second not in item["action"]["given"]]
    assert said_at_a_terminal(agent.visor, f"approve {asked['id']}", " approved")
    wait_until(lambda: agent.open_files() == [second])
    agent.stage.wait_until_still()
    agent.stage.press("1")
    agent.stage.wait_for_text("The tool has finished")
    wait_until(lambda: sorted(agent.states()) == ["used", "withdrawn", "withdrawn"])


def test_a_rule_answers_at_once_and_nobody_is_asked(agent: Watched) -> None:
    rule = '[[rule]]\nid = "touching"\nanswer = "allow"\nwhen = { kind = ["answer_agent"], program = ["touch"] }\n'
    folder = agent.visor.paths.config_dir
    os.makedirs(folder, exist_ok=True)
    Path(folder, "policy.toml").write_text(rule)
    agent.stage.send_prompt("MODEL shell touch made")
    agent.stage.wait_for_text("The tool has finished")
    assert agent.made("made")
    assert agent.states() == []


def test_a_daemon_that_is_killed_meanwhile_leaves_it_to_the_dialog(agent: Watched) -> None:
    agent.stage.send_prompt("MODEL shell touch made")
    agent.asked()
    agent.visor.kill_daemon(signal.SIGKILL)
    agent.stage.wait_for_text(DIALOG)
    assert not agent.made("made")
    agent.allow_in_dialog()
    agent.stage.wait_for_text("The tool has finished")
    assert agent.made("made")
    assert agent.states() == ["withdrawn"]


def test_without_a_daemon_nothing_is_lost_and_nothing_waits(agent: Watched) -> None:
    agent.visor.stop()
    spool = Path(agent.visor.paths.spool_dir, "hooks.jsonl")
    agent.stage.send_prompt("MODEL shell touch made")
    agent.allow_in_dialog()
    agent.stage.wait_for_text("The tool has finished")
    wait_until(lambda: '"event":"Stop"' in spool.read_text())
    agent.visor.start()
    wait_until(lambda: any(item["records"] for item in _hook_sources(agent)))


def _hook_sources(agent: Watched) -> list[dict]:
    return [item for item in call_robot(agent.visor, "list-sources")["items"] if item["source"] == "hook"]
