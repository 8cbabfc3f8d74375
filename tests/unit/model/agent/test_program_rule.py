"""Rules by which further programs are known."""

import pytest

from termvisor.model.agent.program_rule import ProgramRule, find_program_rule_problem, parse_program_rule


def test_a_rule_has_three_parts():
    rule = parse_program_rule(r"\baider\b :: waiting_input :: ^> :: $")
    assert rule == ProgramRule(program=r"\baider\b", state="waiting_input", row="^> :: $")
    assert rule.is_for_program(("python", "-m", "aider"))
    assert not rule.is_for_program(())
    assert rule.is_row_match("> :: x") is False


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("aider", "is not of the form"),
        ("aider :: running", "is not of the form"),
        ("aider :: asleep :: x", "names no state"),
        ("aider :: unknown :: x", "names no state"),
        ("( :: running :: x", "cannot be read"),
        ("aider :: running :: .*", "fits everything"),
        (" :: running :: x", "fits everything"),
    ],
)
def test_what_is_wrong_is_said(text, why):
    assert why in find_program_rule_problem(text)


def test_a_good_rule_has_no_complaint():
    assert find_program_rule_problem("aider :: running :: esc to stop") == ""


def test_what_a_program_prints_does_not_keep_us_busy():
    assert parse_program_rule("x :: running :: END$").is_row_match("a" * 10_000 + "END") is False
