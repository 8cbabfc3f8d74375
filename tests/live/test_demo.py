"""The demo as a newcomer meets it: two agents that are known at once, and one of them waits for a yes."""

import os
import shlex
import sys
from collections.abc import Iterator

import pytest

from termvisor.testing.instance import Instance, instance
from termvisor.testing.tmux import private_tmux, short_folder
from tests.compiled import lend
from tests.live.looking import look
from tests.live.waiting import until


@pytest.fixture
def visor() -> Iterator[Instance]:
    with short_folder() as folder, instance(folder, f"{folder}/none") as one:
        lend(one.places)
        yield one


def states(visor: Instance) -> dict[str, str]:
    rows = visor.robot("state")["items"]
    return {row["agent"]: row["state"] for row in rows if row["agent"]}


def say_yes(visor: Instance, question: int) -> None:
    """At a terminal that nobody watches."""
    env = {**visor.env, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [*(f"{name}={value}" for name, value in env.items()), sys.executable, "-m", "termvisor"]
    with short_folder() as folder, private_tmux(folder, "p") as own:
        own.start("own", shlex.join(["env", *words, "approve", str(question)]))
        until(lambda: look(visor, "inbox", "--all")["items"][-1]["state"] == "used")


def test_a_yes_from_the_inbox_lets_the_demo_agent_go_on(visor: Instance) -> None:
    visor.visor("demo")
    visor.visor("up", "--once")
    until(lambda: states(visor) == {"claude_code": "waiting_approval", "codex": "running"}, seconds=40)
    question = until(lambda: look(visor, "inbox")["items"])[0]
    assert "python -m unittest importer" in question["what"]
    say_yes(visor, question["id"])
    until(lambda: states(visor)["claude_code"] in ("running", "completed"))
    assert "All checks passed" in until(lambda: look(visor, "search", '"checks passed"')["items"])[0]["text"]
