"""Why a program told nothing."""

import pytest

from termvisor.model.action.outcome import Outcome, explain_missing_output


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (
            Outcome(status="suppressed", why="policy_asks", text="rule careful: ask"),
            "cass was not asked: rule careful: ask",
        ),
        (Outcome(status="failed", why="timed_out", text="cass gave no answer"), "cass gave no answer"),
    ],
)
def test_what_was_left_out_is_told_apart_from_what_failed(outcome: Outcome, told: str) -> None:
    assert explain_missing_output(outcome, "cass") == told
