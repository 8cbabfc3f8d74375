"""Crashes are distinguished from normal exits by exit status, reports and the last state."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.daemon.agents.failure_monitor import ExitEvidence, describe_crash


@pytest.mark.parametrize(
    ("ending", "why"),
    [
        ({}, "it exited while it was working"),
        ({"reason": "error"}, "it exited in an error state"),
        ({"reason": "completed"}, ""),
        ({"reason": "manual"}, ""),
        ({"reason": "limit_reached"}, ""),
        ({"has_reported_end": True}, ""),
        ({"exit_code": 0}, ""),
        ({"exit_code": 130}, ""),
        ({"exit_code": 143}, ""),
        ({"exit_code": 137}, "it was terminated by signal 9"),
        ({"exit_code": 137, "reason": "completed"}, "it was terminated by signal 9"),
        ({"exit_code": 139, "has_reported_end": True}, "it was terminated by signal 11"),
        ({"exit_code": 1, "reason": "completed"}, "it exited with status 1"),
        ({"exit_code": 1, "has_reported_end": True}, ""),
        ({"was_killed": True, "reason": "completed"}, "it was killed or crashed"),
        ({"was_killed": True, "exit_code": 0}, ""),
    ],
)
def test_crash_description(ending, why):
    assert describe_crash(ExitEvidence(**ending)) == why


@given(st.booleans(), st.booleans(), st.sampled_from(("", "error", "completed", "manual")))
def test_a_normal_exit_status_is_never_a_crash(goodbye, killed, reason):
    assert describe_crash(ExitEvidence(reason=reason, has_reported_end=goodbye, was_killed=killed, exit_code=0)) == ""
