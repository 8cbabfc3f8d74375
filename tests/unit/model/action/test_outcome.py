"""Texts for programs without output."""

import pytest

from termvisor.model.action.outcome import Outcome, explain_missing_output


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (
            Outcome(status="suppressed", why="policy_asks", text="rule careful: ask"),
            "cass was not run: rule careful: ask",
        ),
        (Outcome(status="failed", why="timed_out", text="cass gave no answer"), "cass gave no answer"),
    ],
)
def test_suppressed_and_failed_programs_have_different_texts(outcome: Outcome, expected: str) -> None:
    assert explain_missing_output(outcome, "cass") == expected
