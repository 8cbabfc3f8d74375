"""Rules of the setting `agent_programs`."""

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
        ("aider :: asleep :: x", "has an unknown state"),
        ("aider :: unknown :: x", "has an unknown state"),
        ("( :: running :: x", "invalid pattern"),
        ("aider :: running :: .*", "matches everything"),
        (" :: running :: x", "matches everything"),
    ],
)
def test_an_invalid_rule_is_explained(text, why):
    assert why in find_program_rule_problem(text)


def test_a_valid_rule_has_no_problem():
    assert find_program_rule_problem("aider :: running :: esc to stop") == ""


def test_long_output_is_matched_in_bounded_time():
    assert parse_program_rule("x :: running :: END$").is_row_match("a" * 10_000 + "END") is False
