import pytest

from termvisor.errors import ConfigError
from termvisor.model.agent.price import (
    ModelPrice,
    add_estimated_cost,
    estimate_cost,
    find_price_problem,
    parse_price_line,
)
from termvisor.model.agent.session import AgentSession, TokenCounts, TokenUsage
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.settings import validate_settings

OPUS_LINE = "claude-opus-* :: 10 :: 50 :: 1 :: 12"
OPUS = dict([parse_price_line(OPUS_LINE)])
MILLION = 1_000_000


def build_session(usage: TokenUsage, model: str = "claude-opus-9", **by_model: TokenCounts) -> AgentSession:
    return AgentSession(
        runtime=RuntimeId(1),
        pane=PaneId(1),
        agent="claude_code",
        model=model,
        started_at=0,
        usage=usage,
        by_model={name.replace("_", "-"): spent for name, spent in by_model.items()},
    )


def test_a_rule_has_a_price_per_token_class() -> None:
    assert {"claude-opus-*": ModelPrice(input=10, output=50, cached=1, written=12)} == OPUS


def test_cache_prices_default_to_the_input_price() -> None:
    _, price = parse_price_line("x :: 2 :: 3 :: 1")
    assert price == ModelPrice(input=2, output=3, cached=1)
    assert price.compute_cost(TokenCounts(input=MILLION, output=MILLION, cached=MILLION, written=MILLION)) == 8.0


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("claude-opus", "is not of the form"),
        (":: 1 :: 2", "is not of the form"),
        ("x :: 1", "is not of the form"),
        ("x :: 1 :: 2 :: 3 :: 4 :: 5", "is not of the form"),
        ("x :: $1 :: 2", "where a price in dollars is expected"),
        ("x :: -1 :: 2", "not a valid amount of dollars"),
        ("x :: inf :: 2", "not a valid amount of dollars"),
        ("x :: nan :: 2", "not a valid amount of dollars"),
    ],
)
def test_an_invalid_rule_is_explained(rule: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        validate_settings({"agent_prices": [rule]}, "config.toml")


def test_a_valid_rule_has_no_problem() -> None:
    assert find_price_problem(OPUS["claude-opus-*"]) == ""


def test_each_token_class_has_its_own_price() -> None:
    spent = TokenCounts(input=MILLION, output=MILLION, cached=MILLION, written=MILLION)
    assert estimate_cost(OPUS, {"CLAUDE-opus-9": spent}) == pytest.approx(73.0)


def test_the_first_matching_rule_counts() -> None:
    prices = {"claude-opus-9": ModelPrice(input=1, output=1)} | OPUS
    assert estimate_cost(prices, {"claude-opus-9": TokenCounts(input=MILLION)}) == pytest.approx(1.0)


def test_a_model_without_a_price_makes_the_cost_unknown() -> None:
    spent = {"claude-opus-9": TokenCounts(input=MILLION), "haiku": TokenCounts(input=1)}
    assert estimate_cost(OPUS, spent) is None
    assert estimate_cost({}, {}) is None


def test_an_estimate_is_marked() -> None:
    found = add_estimated_cost(build_session(TokenUsage(total=MILLION, input=MILLION, output=0)), OPUS).usage
    assert (found.cost, found.is_estimated) == (pytest.approx(10.0), True)


def test_a_reported_cost_is_kept() -> None:
    found = add_estimated_cost(build_session(TokenUsage(total=MILLION, input=MILLION, output=0, cost=0.3)), OPUS).usage
    assert (found.cost, found.is_estimated) == (0.3, False)


def test_a_reported_cost_of_zero_is_replaced() -> None:
    used = TokenUsage(total=MILLION, input=MILLION, output=0, cost=0.0)
    assert add_estimated_cost(build_session(used), OPUS).usage.cost == pytest.approx(10.0)
    assert add_estimated_cost(build_session(used, model="free"), OPUS).usage.cost == 0.0


def test_known_models_are_priced_separately() -> None:
    used = TokenUsage(total=2 * MILLION, input=2 * MILLION, output=0)
    both = build_session(used, claude_opus_9=TokenCounts(input=MILLION), haiku=TokenCounts(input=MILLION))
    assert add_estimated_cost(both, OPUS | {"haiku": ModelPrice(input=1, output=5)}).usage.cost == pytest.approx(11.0)


def test_without_tokens_or_prices_there_is_no_estimate() -> None:
    assert add_estimated_cost(build_session(TokenUsage()), OPUS).usage.cost is None
    assert add_estimated_cost(build_session(TokenUsage(total=5, input=5, output=0)), {}).usage.cost is None
