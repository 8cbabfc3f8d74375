import pytest

from termvisor.model.agent.price import (
    ModelPrice,
    add_estimated_cost,
    estimate_cost,
    find_price_problem,
    parse_price_rule,
)
from termvisor.model.agent.session import AgentSession, TokenCounts, TokenUsage
from termvisor.model.ids import PaneId, RuntimeId

OPUS = "claude-opus-* :: 10 :: 50 :: 1 :: 12"
MILLION = 1_000_000


def session(usage: TokenUsage, model: str = "claude-opus-9", **by_model: TokenCounts) -> AgentSession:
    return AgentSession(
        runtime=RuntimeId(1),
        pane=PaneId(1),
        agent="claude_code",
        model=model,
        started_at=0,
        usage=usage,
        by_model={name.replace("_", "-"): spent for name, spent in by_model.items()},
    )


def test_a_rule_has_a_price_for_every_kind_of_token() -> None:
    assert parse_price_rule(OPUS) == ModelPrice(model="claude-opus-*", input=10, output=50, cached=1, written=12)


def test_what_a_cache_costs_is_that_of_input_where_it_is_not_said() -> None:
    assert parse_price_rule("x :: 2 :: 3") == ModelPrice(model="x", input=2, output=3, cached=2, written=2)
    assert parse_price_rule("x :: 2 :: 3 :: 1") == ModelPrice(model="x", input=2, output=3, cached=1, written=2)


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("claude-opus", "is not of the form"),
        (":: 1 :: 2", "is not of the form"),
        ("x :: 1", "is not of the form"),
        ("x :: 1 :: 2 :: 3 :: 4 :: 5", "is not of the form"),
        ("x :: $1 :: 2", "in place of a number of dollars"),
        ("x :: -1 :: 2", "no number of dollars"),
        ("x :: inf :: 2", "no number of dollars"),
        ("x :: nan :: 2", "no number of dollars"),
    ],
)
def test_what_is_no_rule_says_why(rule: str, why: str) -> None:
    assert why in find_price_problem(rule)


def test_a_rule_has_nothing_to_complain_of() -> None:
    assert find_price_problem(OPUS) == ""


def test_each_kind_costs_its_own_price() -> None:
    spent = TokenCounts(input=MILLION, output=MILLION, cached=MILLION, written=MILLION)
    assert estimate_cost([parse_price_rule(OPUS)], {"CLAUDE-opus-9": spent}) == pytest.approx(73.0)


def test_the_first_rule_that_fits_counts() -> None:
    prices = [parse_price_rule("claude-opus-9 :: 1 :: 1"), parse_price_rule(OPUS)]
    assert estimate_cost(prices, {"claude-opus-9": TokenCounts(input=MILLION)}) == pytest.approx(1.0)


def test_one_model_without_a_price_makes_the_whole_unknown() -> None:
    spent = {"claude-opus-9": TokenCounts(input=MILLION), "haiku": TokenCounts(input=1)}
    assert estimate_cost([parse_price_rule(OPUS)], spent) is None
    assert estimate_cost([], {}) is None


def test_an_estimate_says_that_it_is_one() -> None:
    found = add_estimated_cost(session(TokenUsage(total=MILLION, input=MILLION, output=0)), [OPUS]).usage
    assert (found.cost, found.is_estimated) == (pytest.approx(10.0), True)


def test_what_the_agent_told_itself_stands() -> None:
    found = add_estimated_cost(session(TokenUsage(total=MILLION, input=MILLION, output=0, cost=0.3)), [OPUS]).usage
    assert (found.cost, found.is_estimated) == (0.3, False)


def test_a_told_cost_of_nothing_is_none_where_there_is_a_price() -> None:
    used = TokenUsage(total=MILLION, input=MILLION, output=0, cost=0.0)
    assert add_estimated_cost(session(used), [OPUS]).usage.cost == pytest.approx(10.0)
    assert add_estimated_cost(session(used, model="free"), [OPUS]).usage.cost == 0.0


def test_models_are_priced_one_by_one_where_they_are_known() -> None:
    used = TokenUsage(total=2 * MILLION, input=2 * MILLION, output=0)
    both = session(used, claude_opus_9=TokenCounts(input=MILLION), haiku=TokenCounts(input=MILLION))
    assert add_estimated_cost(both, [OPUS, "haiku :: 1 :: 5"]).usage.cost == pytest.approx(11.0)


def test_without_tokens_or_prices_nothing_is_reckoned() -> None:
    assert add_estimated_cost(session(TokenUsage()), [OPUS]).usage.cost is None
    assert add_estimated_cost(session(TokenUsage(total=5, input=5, output=0)), []).usage.cost is None
