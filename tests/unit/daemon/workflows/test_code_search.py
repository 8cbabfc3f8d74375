"""Code search for names with `ast-grep`, which may be missing; screen text never becomes an option.

A script stands in for the program to produce every kind of output; `tests/live` runs the real one.
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
    """Install an `ast-grep` script that prints the given output and records its arguments."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def write_program(answer: str, status: int = 0) -> Path:
        text = f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\ncat {tmp_path}/answer\nexit {status}\n'
        (tmp_path / "answer").write_text(answer)
        (tmp_path / "ast-grep").write_text(text)
        (tmp_path / "ast-grep").chmod(0o755)
        return tmp_path / "calls"

    return write_program


async def test_only_a_few_plain_names_are_searched(program):
    calls = program("[]")
    names = ["--rewrite=x", "$(id)", "a b", "x", "one_name", "one_name", "two", "three", "four"]
    await search_code(names, "/src", run_program)
    assert [line.split()[3] for line in calls.read_text().splitlines()] == ["one_name", "two", "three"]
    assert (await search_code(["; rm"], "/src", run_program)).trouble == "no identifier to search for"
    assert (await search_code(["name"], "", run_program)).trouble == "the folder of the pane is not known"


@pytest.mark.parametrize(
    ("answer", "status", "problem"),
    [("{", 0, "unexpected JSON"), ('[{"file": 3}]', 0, "unexpected JSON"), ("[]", 2, "ast-grep")],
)
async def test_failures_of_ast_grep_are_reported(program, answer, status, problem):
    program(answer, status)
    result = await search_code(["name"], "/src", run_program)
    assert (result.places, problem in result.trouble) == ((), True)


async def test_a_missing_program_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    result = await search_code(["name"], "/src", run_program)
    assert result.trouble == "ast-grep is not installed, so no code was searched"


@pytest.mark.parametrize("answer", ["deny", "ask"])
async def test_a_refusal_by_the_policy_is_reported(program, answer):
    async def refuse(_action: RunProgram) -> Outcome:
        if answer == "deny":
            raise Refused("the policy says no: not here")
        return Outcome(status="suppressed", why="policy_asks", text="not here")

    program("[]")
    result = await search_code(["name"], "/src", refuse)
    assert result.trouble.startswith("ast-grep was not run: ")
