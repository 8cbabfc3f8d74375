"""A crash is told from an end on purpose by what the shell, the agent and its last state say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.agents.state.failures import ExitEvidence, describe_crash


@pytest.mark.parametrize(
    ("ending", "why"),
    [
        ({}, "it ended in the middle of its work"),
        ({"reason": "error"}, "it ended in an error, without a word"),
        ({"reason": "completed"}, ""),
        ({"reason": "manual"}, ""),
        ({"reason": "limit_reached"}, ""),
        ({"has_reported_end": True}, ""),
        ({"exit_code": 0}, ""),
        ({"exit_code": 130}, ""),
        ({"exit_code": 143}, ""),
        ({"exit_code": 137}, "it was ended by signal 9"),
        ({"exit_code": 137, "reason": "completed"}, "it was ended by signal 9"),
        ({"exit_code": 139, "has_reported_end": True}, "it was ended by signal 11"),
        ({"exit_code": 1, "reason": "completed"}, "it ended with status 1"),
        ({"exit_code": 1, "has_reported_end": True}, ""),
        ({"was_killed": True, "reason": "completed"}, "it was killed or crashed"),
        ({"was_killed": True, "exit_code": 0}, ""),
    ],
)
def test_an_end(ending, why):
    assert describe_crash(ExitEvidence(**ending)) == why


@given(st.booleans(), st.booleans(), st.sampled_from(("", "error", "completed", "manual")))
def test_a_good_status_is_never_a_crash(goodbye, killed, reason):
    assert describe_crash(ExitEvidence(reason=reason, has_reported_end=goodbye, was_killed=killed, exit_code=0)) == ""
