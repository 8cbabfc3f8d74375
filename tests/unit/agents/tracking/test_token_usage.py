"""Token usage of a session, however its messages are reported."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from termvisor.agents.tracking.token_usage import apply_usage, parse_number
from termvisor.model.agent.session import AgentSession, MessageUsage, TokenCounts, TokenUsage
from termvisor.model.ids import PaneId, RuntimeId

FRESH = AgentSession(runtime=RuntimeId(1), pane=PaneId(1), agent="claude_code", model="opus", started_at=0)


def build_answer(name: str, given: int = 0, output: int = 0, cached: int = 0, **more) -> dict:
    return {"message_id": name, "message_input": given, "message_output": output, "message_cached": cached, **more}


def apply_payloads(*payloads: dict, session: AgentSession = FRESH) -> AgentSession:
    for one in payloads:
        session = apply_usage(session, one)
    return session


def test_messages_add_up() -> None:
    assert apply_payloads(build_answer("a", 10, 2, 100), build_answer("b", 5, 1, 200)).usage == TokenUsage(
        total=318, input=15, output=3, cached=300
    )


def test_a_message_counts_once_with_its_largest_figures() -> None:
    session = apply_payloads(build_answer("a", 10, 1), build_answer("a", 10, 7), build_answer("a", 10, 3))
    assert (session.usage.input, session.usage.output) == (10, 7)


def test_messages_of_sub_agents_may_come_between() -> None:
    session = apply_payloads(
        build_answer("a", 10, 1), build_answer("b", 1, 1), build_answer("a", 10, 1), build_answer("b", 1, 1)
    )
    assert session.usage.total == 13


def test_tokens_are_summed_per_model() -> None:
    session = apply_payloads(
        build_answer("a", 10, model="opus"), build_answer("b", 3, message_model="haiku", message_written=0)
    )
    assert session.by_model == {"opus": TokenCounts(input=10), "haiku": TokenCounts(input=3)}


def test_cache_writes_and_reads_are_separate() -> None:
    session = apply_payloads(build_answer("a", 1, 1, cached=50, message_written=20))
    assert session.by_model["opus"] == TokenCounts(input=1, output=1, cached=30, written=20)
    assert session.usage.cached == 50


def test_a_reported_total_counts_while_it_is_larger() -> None:
    total = {"total": 100, "input": 90, "output": 10, "cost": 0.5}
    assert apply_payloads(build_answer("a", 50, 1), total).usage == TokenUsage(total=100, input=90, output=10, cost=0.5)
    later = apply_payloads(build_answer("a", 50, 1), total, build_answer("b", 80, 2)).usage
    assert (later.total, later.cost) == (133, None), "the cost belongs to fewer tokens"


def test_a_missing_total_is_input_plus_output() -> None:
    assert apply_payloads({"input": 19_500, "output": 325, "cached": 7}).usage.total == 19_825


def test_invalid_figures_are_ignored() -> None:
    assert (
        apply_payloads({"model": "opus"}, {"message_id": 7, "message_input": 3}, build_answer("")).usage == TokenUsage()
    )
    assert apply_payloads(build_answer("a", -5)).usage == TokenUsage()


def test_the_context_is_known_in_tokens_and_as_a_share() -> None:
    def read_context(**payload):
        usage = apply_payloads(payload).usage
        return usage.context_used, usage.context_tokens

    assert read_context(context_used=50_000, context_size=200_000) == (0.25, 50_000)
    assert read_context(context_used=0.25, context_size=200_000) == (0.25, 50_000)
    assert read_context(context_used=50_000) == (None, 50_000)
    assert read_context(context_tokens=1525) == (None, 1525)
    assert read_context(context_used=0.4) == (0.4, None)


def test_only_the_last_messages_are_remembered() -> None:
    session = apply_payloads(*(build_answer(str(number), 1) for number in range(500)))
    assert (session.usage.total, len(session.messages)) == (500, 24)


@pytest.mark.parametrize(
    ("session_model", "payload", "model"),
    [
        ("opus", {"model": "m", "message_model": "sub"}, "sub"),
        ("opus", {"model": "m", "message_model": ""}, "m"),
        ("opus", {}, "opus"),
        ("", {}, ""),
        ("opus", {"model": 7}, ""),
    ],
)
def test_a_message_belongs_to_the_most_specific_model(session_model: str, payload: dict, model: str) -> None:
    session = apply_payloads(build_answer("a", 1, **payload), session=replace(FRESH, model=session_model))
    assert list(session.by_model) == [model]
    assert session.messages == {"a": MessageUsage(model=model, spent=TokenCounts(input=1))}


def test_a_reported_total_that_equals_the_messages_keeps_its_details() -> None:
    reported = {"total": 10, "input": 8, "output": 2, "reasoning": 1, "cost": 0}
    expected = TokenUsage(total=10, input=8, output=2, reasoning=1, cost=0)
    assert apply_payloads(build_answer("a", 8, 2), reported).usage == expected
    assert apply_payloads(build_answer("a", 8, 3), reported).usage == TokenUsage(total=11, input=8, output=3, cached=0)


def test_figures_that_are_not_reported_again_remain() -> None:
    first = {"total": 10, "input": 8, "cost": 0.5, "context_used": 0.2, "context_size": 100}
    usage = apply_payloads(first, {"output": 2}).usage
    assert usage == TokenUsage(total=10, input=8, output=2, cost=0.5, context_used=0.2, context_tokens=20)
    later = {"cost": 0.6, "context_used": 150, "context_size": 100}
    assert apply_payloads(first, later).usage == TokenUsage(
        total=10, input=8, cost=0.6, context_used=1.0, context_tokens=150
    )


def test_a_total_is_computed_only_from_both_of_its_parts() -> None:
    assert apply_payloads({"input": 3, "cached": 1}).usage == TokenUsage(input=3, cached=1)
    assert apply_payloads({"input": 3, "output": 2, "total": 9}).usage.total == 9


@pytest.mark.parametrize(
    ("value", "number"), [(0, 0.0), (1.5, 1.5), (-1, None), (True, None), ("3", None), (None, None)]
)
def test_only_numbers_from_zero_are_figures(value, number) -> None:
    assert parse_number(value) == number


def test_the_context_share_is_at_most_the_whole_window() -> None:
    usage = apply_payloads({"context_used": 1, "context_size": 50}).usage
    assert (usage.context_used, usage.context_tokens) == (1.0, 50)
    assert apply_payloads({"context_used": 2, "context_size": 0}).usage == TokenUsage(context_tokens=2)


def test_more_is_written_to_the_cache_than_reported_as_cached() -> None:
    session = apply_payloads(build_answer("a", cached=5, message_written=9))
    assert session.by_model["opus"] == TokenCounts(written=9)


def test_a_message_that_is_reported_again_is_the_last_to_be_forgotten() -> None:
    names = [str(number) for number in range(24)]
    session = apply_payloads(*(build_answer(name, 1) for name in names), build_answer("0", 2), build_answer("new", 1))
    assert list(session.messages) == [*names[2:], "0", "new"]


ANSWERS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 50), st.integers(0, 50)).map(
        lambda one: build_answer(str(one[0]), *one[1:])
    ),
    max_size=40,
)


@given(ANSWERS)
def test_order_and_repetition_do_not_matter(payloads: list[dict]) -> None:
    once = {}
    for one in payloads:
        before = once.get(one["message_id"], (0, 0))
        once[one["message_id"]] = (max(before[0], one["message_input"]), max(before[1], one["message_output"]))
    expected = sum(given + output for given, output in once.values())
    assert (
        (apply_payloads(*payloads).usage.total or 0)
        == (apply_payloads(*reversed(payloads), *payloads).usage.total or 0)
        == expected
    )


def test_a_shown_cost_counts_until_a_total_has_one() -> None:
    shown = apply_payloads(
        build_answer("a", 50, 1), {"cost_so_far": 0.3}, build_answer("b", 80, 2), {"cost_so_far": 0.2}
    )
    assert (shown.usage.total, shown.usage.cost) == (133, 0.3)
    assert apply_payloads({"cost_so_far": 0.1}).usage.cost == 0.1
    total = apply_payloads({"total": 500, "input": 480, "output": 20, "cost": 0.5}, session=shown)
    assert (total.usage.total, total.usage.cost) == (500, 0.5)
