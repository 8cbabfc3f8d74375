"""Verdicts on command lines whose effect is known: by a run in a sandbox, or because everybody uses them."""

import tomllib
from pathlib import Path

from termvisor.model.action.action import ActorKind
from termvisor.model.action.policy import Policy, ShellPolicy
from termvisor.policy.evaluator import evaluate_request
from tests.unit.policy.policy_requests import analyze_text, make_command_request

FOLDER = Path(__file__).parent
ATTACKS: dict[str, list[str]] = tomllib.loads((FOLDER / "attacks.toml").read_text("utf-8"))
EVERYDAY: dict[str, list[str]] = tomllib.loads((FOLDER / "everyday.toml").read_text("utf-8"))
# Only command classes decide: the default for typing into a pane would ask anyway.
OPEN = Policy(shell=ShellPolicy(mode="allow"))
# A person is asked about these effects too; those on the current folder are up to the person.
ASKED_OF_A_PERSON = {"outside", "config", "keys", "leak", "history", "sent"}
# Programs that run what a file or their own language says. A person who starts them is not asked.
LEFT_TO_A_PERSON = {
    "ed -s ../notes.txt < edscript",
    "make -C .. -f src/home.mk",
    "cmake -E copy a.txt ../notes.txt",
    "cmake -E touch ../new",
    "git config core.hooksPath . && git commit -q --allow-empty -m x",
    "git config --global --unset user.name",
    "git remote remove origin",
}


def get_answer(line: str, kind: ActorKind) -> str:
    return evaluate_request(OPEN, make_command_request(line, kind)).answer


def has_recorded_writes(line: str) -> bool:
    found = analyze_text(line)
    return bool(found.writes or found.removes)


def test_corpora_are_large() -> None:
    assert sum(len(lines) for effect, lines in ATTACKS.items() if effect != "not run") >= 600
    assert len(EVERYDAY["harmless"]) >= 400


def test_no_line_that_destroyed_something_is_allowed_for_a_program() -> None:
    """A change in the current folder may be allowed, if its path is known and thus the `filesystem` table applies."""
    lines = [(effect, line) for effect, lines in ATTACKS.items() for line in lines]
    allowed = [(effect, line) for effect, line in lines if get_answer(line, "robot") == "allow"]
    assert [(effect, line) for effect, line in allowed if effect != "folder" or not has_recorded_writes(line)] == []
    assert len(allowed) <= 6


def test_no_line_that_wrote_elsewhere_or_leaked_is_allowed_for_a_person() -> None:
    lines = [line for effect, lines in ATTACKS.items() for line in lines if ASKED_OF_A_PERSON & {*effect.split()}]
    assert {line for line in lines if get_answer(line, "human") == "allow"} == LEFT_TO_A_PERSON


def test_everyday_lines_are_harmless_for_every_caller() -> None:
    answers = {line: (get_answer(line, "agent"), get_answer(line, "human")) for line in EVERYDAY["harmless"]}
    assert {line: answer for line, answer in answers.items() if answer != ("allow", "allow")} == {}


def test_lines_that_run_code_ask_for_programs_only() -> None:
    answers = {line: (get_answer(line, "agent"), get_answer(line, "human")) for line in EVERYDAY["asks_for_programs"]}
    assert {line: answer for line, answer in answers.items() if answer != ("ask", "allow")} == {}
