"""Names are found in code by a program that may be missing; what a screen shows never becomes an option of it.

The program here is a stand-in that says what the real one cannot be made to say; `tests/live` asks the real one.
"""

from pathlib import Path

import pytest

from termvisor.actions.executor import run_program
from termvisor.daemon.workflows.code_search import search_code
from termvisor.errors import Refused
from termvisor.model.action.action import RunProgram
from termvisor.model.action.outcome import Outcome


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It says this and writes down how it was called."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def made(answer: str, status: int = 0) -> Path:
        text = f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\ncat {tmp_path}/answer\nexit {status}\n'
        (tmp_path / "answer").write_text(answer)
        (tmp_path / "ast-grep").write_text(text)
        (tmp_path / "ast-grep").chmod(0o755)
        return tmp_path / "calls"

    return made


async def test_only_plain_names_are_looked_for_and_only_a_few(program):
    calls = program("[]")
    names = ["--rewrite=x", "$(id)", "a b", "x", "one_name", "one_name", "two", "three", "four"]
    await search_code(names, "/src", run_program)
    assert [line.split()[3] for line in calls.read_text().splitlines()] == ["one_name", "two", "three"]
    assert (await search_code(["; rm"], "/src", run_program)).trouble == "no identifier to search for"
    assert (await search_code(["name"], "", run_program)).trouble == "the folder of the pane is not known"


@pytest.mark.parametrize(
    ("answer", "status", "trouble"),
    [("{", 0, "unexpected JSON"), ('[{"file": 3}]', 0, "unexpected JSON"), ("[]", 2, "ast-grep")],
)
async def test_failures_of_ast_grep_are_reported(program, answer, status, trouble):
    program(answer, status)
    told = await search_code(["name"], "/src", run_program)
    assert (told.places, trouble in told.trouble) == ((), True)


async def test_a_missing_program_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    told = await search_code(["name"], "/src", run_program)
    assert told.trouble == "ast-grep is not installed, so no code was searched"


@pytest.mark.parametrize("answer", ["deny", "ask"])
async def test_a_refusal_by_the_policy_is_reported(program, answer):
    async def refuse(_action: RunProgram) -> Outcome:
        if answer == "deny":
            raise Refused("the policy says no: not here")
        return Outcome(status="suppressed", why="policy_asks", text="not here")

    program("[]")
    told = await search_code(["name"], "/src", refuse)
    assert told.trouble.startswith("ast-grep was not run: ")
