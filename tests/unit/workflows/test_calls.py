"""Calls of a workflow."""

from termvisor.workflows.calls import COMES, Call, Retry


def test_the_wait_before_another_try_doubles_up_to_its_limit():
    retry = Retry(first=2.0, most=10.0)
    assert [retry.delay(attempt) for attempt in (1, 2, 3, 4, 99)] == [2.0, 4.0, 8.0, 10.0, 10.0]


def test_every_call_has_something_that_comes_of_it():
    assert set(COMES) == set(Call.__args__)
