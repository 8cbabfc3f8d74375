"""Rules by which further programs are known."""

import pytest

from termvisor.model.agent.program_rule import ProgramRule, complaint, rule_of


def test_a_rule_has_three_parts():
    rule = rule_of(r"\baider\b :: waiting_input :: ^> :: $")
    assert rule == ProgramRule(program=r"\baider\b", state="waiting_input", row="^> :: $")
    assert rule.is_of(("python", "-m", "aider"))
    assert not rule.is_of(())
    assert rule.fits("> :: x") is False


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
    assert why in complaint(text)


def test_a_good_rule_has_no_complaint():
    assert complaint("aider :: running :: esc to stop") == ""


def test_what_a_program_prints_does_not_keep_us_busy():
    assert rule_of("x :: running :: END$").fits("a" * 10_000 + "END") is False
