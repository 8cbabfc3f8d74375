"""Calls of a workflow."""

from termvisor.workflows.calls import RESULT_TYPES, RetryPolicy, WorkflowCall


def test_the_retry_delay_doubles_up_to_its_limit():
    retry = RetryPolicy(first=2.0, most=10.0)
    assert [retry.compute_delay(attempt) for attempt in (1, 2, 3, 4, 99)] == [2.0, 4.0, 8.0, 10.0, 10.0]


def test_every_call_has_a_result_type():
    assert set(RESULT_TYPES) == set(WorkflowCall.__args__)
