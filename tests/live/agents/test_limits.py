"""Usage limits of the real agents at their edges: a dialog, one that goes on by itself, people, and a killed daemon."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from termvisor.testing.tmux import PrivateTmux, private_tmux, short_folder
from tests.live.agents.claude_stage import SUBSCRIBED
from tests.live.agents.company import Company
from tests.live.agents.lab import CLAUDE, CODEX, GEMINI
from tests.live.agents.model.server import model_server
from tests.live.agents.runs import ENDED, at, at_work, detected, run_in, runs, said_to, steps
from tests.live.waiting import until

pytestmark = [pytest.mark.live, pytest.mark.timeout(400)]

PATIENCE = 5.0
"""Seconds from the detection of a limit to its plan, at most."""
CLOCK = "import time\nreal = time.time_ns\ntime.time_ns = lambda: real() + {by} * 10**9\n"


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with model_server() as address:
        yield address


def acts(one: Company) -> list[str]:
    """What the run did in the pane, in its order."""
    given = [step["given"] for step in steps(one) if step["kind"] == "act"]
    return [(one.get("action") or one["wish"])["type"] for one in given]


def test_gemini_s_dialog_is_left_alone_until_a_person_says_so(model: str) -> None:
    with at_work(GEMINI, model, "Type your message", "handle_usage_limits") as gemini:
        gemini.stage.prompt(f"MODEL until {int(time.time()) + 8}")
        gemini.stage.shows("1. Keep trying")
        run = run_in(gemini, "paused")
        (event,) = detected(gemini, "usage.reached")
        (pause,) = [step for step in steps(gemini) if step["kind"] == "pause"]
        assert at(pause["began_at"]) - at(event["at"]) <= PATIENCE
        assert (run["due_at"], acts(gemini)) == (None, [])
        assert "did not say when that ends" in run["plan"]
        gemini.stage.rests()
        assert "● 1. Keep trying" in gemini.stage.text()
        until(lambda: time.time() > at(event["at"]) + 8)
        gemini.visor.visor("workflow", "resume", str(run["id"]))
        run = run_in(gemini, *ENDED)
        assert (run["status"], run["why"]) == ("completed", "the limit is over and the agent works again")
        gemini.stage.shows("The limit is over.")
        assert acts(gemini) == ["answer_dialog"]
        assert "proceed." not in gemini.stage.text()


def test_the_time_that_gemini_s_dialog_says_is_that_of_the_plan(model: str) -> None:
    with at_work(GEMINI, model, "Type your message", "handle_usage_limits") as gemini:
        ends = int(time.time()) + 900
        gemini.stage.prompt(f"MODEL until {ends}")
        gemini.stage.shows("Access resets at")
        run = run_in(gemini, "paused")
        assert ends // 60 * 60 <= at(run["due_at"]) <= ends + 60
        assert acts(gemini) == []


def test_claude_code_goes_on_by_itself_and_is_only_watched(model: str) -> None:
    with at_work(SUBSCRIBED, model, "mode on", "handle_usage_limits") as claude:
        claude.stage.prompt(f"MODEL until {int(time.time()) + 20}")
        claude.stage.shows("ontinuing automatically at")
        run = run_in(claude, "paused")
        assert "goes on by itself" in run["plan"]
        run = run_in(claude, *ENDED, seconds=300)
        assert (run["status"], run["why"]) == ("completed", "the limit is over and the agent went on by itself")
        claude.stage.shows("The limit is over.")
        claude.stage.rests()
        assert acts(claude) == []
        assert said_to(claude, ".claude/projects", "proceed.") == 0


class Attached:
    """A person at a terminal of their own, attached to the agent's session."""

    def __init__(self, own: PrivateTmux, pane: str):
        self._own, self._pane = own, pane

    def press(self, *keys: str) -> None:
        self._own("send-keys", "-t", self._pane, *keys)

    @property
    def sees(self) -> str:
        return self._own("capture-pane", "-p", "-t", self._pane)


@contextmanager
def attached(one: Company) -> Iterator[Attached]:
    with short_folder() as folder, private_tmux(folder) as own:
        inner = one.stage.tmux
        session = inner.ask(one.stage.pane, "#{session_name}")
        client = f"exec env -u TMUX -u TMUX_PANE tmux -S {inner.socket} attach-session -t '={session}'"
        found = Attached(own, own.start("own", client, width=110, height=47))
        until(lambda: inner.ask(one.stage.pane, "#{session_attached}") != "0")
        yield found


def typing_until_it_ends(one: Company, person: Attached) -> dict:
    """The run, which ends while keys come that leave nothing behind."""

    def look() -> list[dict]:
        person.press("Left")
        return [run for run in runs(one) if run["status"] in ENDED]

    return until(look, seconds=60)[0]


def test_at_the_end_of_a_limit_a_person_who_types_there_has_the_pane(model: str) -> None:
    with at_work(CODEX, model, "Ask Codex", "handle_usage_limits") as codex, attached(codex) as person:
        codex.stage.prompt("MODEL limit 900")
        run = run_in(codex, "paused")
        person.press("Escape")
        codex.stage.rests()
        person.press("Left")
        codex.visor.visor("workflow", "resume", str(run["id"]))
        run = typing_until_it_ends(codex, person)
        assert (run["status"], "somebody typed there" in run["why"]) == ("cancelled", True), (run, person.sees)
        assert said_to(codex, ".codex/sessions", "proceed.") == 0
        assert "proceed." not in person.sees


def test_after_a_compaction_a_person_who_types_there_has_the_pane(model: str) -> None:
    with at_work(CLAUDE, model, "mode on", "handle_compaction") as claude, attached(claude) as person:
        claude.stage.prompt("MODEL text something to forget")
        until(lambda: claude.state() in ("completed", "idle"))
        claude.stage.prompt("/compact")
        run = typing_until_it_ends(claude, person)
        assert (run["status"], "somebody typed there" in run["why"]) == ("cancelled", True), (run, person.sees)
        assert said_to(claude, ".claude/projects", "Reread AGENTS.md so it's still fresh in your mind.") == 0


@pytest.mark.parametrize("late", [-3, 1, 5400], ids=["just before", "at the moment", "long after"])
def test_a_daemon_that_is_killed_across_the_end_of_a_limit_has_the_agent_go_on_once(
    model: str, tmp_path: Path, late: int
) -> None:
    with at_work(CODEX, model, "Ask Codex", "handle_usage_limits") as codex:
        codex.stage.prompt("MODEL limit 900")
        run = run_in(codex, "paused")
        codex.visor.kill_daemon()
        set_clock(codex, tmp_path, round(at(run["due_at"]) - time.time()) + late)
        codex.visor.visor("list-panes")
        run = run_in(codex, *ENDED)
        assert (run["status"], run["why"]) == ("completed", "the limit is over and the agent works again")
        until(lambda: said_to(codex, ".codex/sessions", "proceed."))
        codex.visor.kill_daemon()
        codex.visor.visor("list-panes")
        codex.stage.rests()
        assert said_to(codex, ".codex/sessions", "proceed.") == 1
        assert len(runs(codex)) == 1


def set_clock(one: Company, folder: Path, seconds: int) -> None:
    """The next daemon's clock is so much ahead."""
    (folder / "sitecustomize.py").write_text(CLOCK.format(by=seconds))
    path = os.pathsep.join(filter(None, [str(folder), *sys.path]))
    one.visor.env = {**one.visor.env, "PYTHONPATH": path}
