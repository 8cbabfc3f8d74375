"""Parse the setting `agent_prices` (US dollars per million tokens of a model) and estimate costs.

claude-opus-* :: 15 :: 75 :: 1.5 :: 18.75

The prices are for input, output, cache reads and cache writes; the last two default to the input price. The first rule
that matches a model's name applies. Prices change, so none are built in.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import translate
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from termvisor.model.agent.session import AgentSession, TokenCounts

_TOKENS_PER_PRICE = 1_000_000


class ModelPrice(Struct, frozen=True, kw_only=True):
    model: str
    """A name with ``*`` and ``?``, case-insensitive."""
    input: float
    output: float
    cached: float
    written: float

    def is_for_model(self, model: str) -> bool:
        return _compile_pattern(self.model).match(model) is not None

    def compute_cost(self, spent: TokenCounts) -> float:
        """Return the cost in US dollars."""
        parts = ((getattr(spent, name), getattr(self, name)) for name in TokenCounts.__struct_fields__)
        return float(sum(tokens * dollars for tokens, dollars in parts)) / _TOKENS_PER_PRICE


def parse_price_rule(text: str) -> ModelPrice:
    """Parse a price rule. Raises ValueError with the problem."""
    model, *prices = [part.strip() for part in text.split("::")]
    if not model or not 2 <= len(prices) <= 4:
        raise ValueError("is not of the form `model :: input :: output :: from cache :: into cache`")
    numbers = [_parse_dollars(one) for one in prices]
    input_price, output_price = numbers[:2]
    cached, written = (*numbers[2:], *[input_price] * (4 - len(numbers)))
    return ModelPrice(model=model, input=input_price, output=output_price, cached=cached, written=written)


def find_price_problem(text: str) -> str:
    """Return why a text is not a valid rule; empty if it is."""
    try:
        parse_price_rule(text)
    except ValueError as error:
        return str(error)
    return ""


def estimate_cost(prices: Sequence[ModelPrice], spent: Mapping[str, TokenCounts]) -> float | None:
    """Return the cost of these tokens in US dollars; None if a model has no price."""
    costs = []
    for model, tokens in spent.items():
        price = next((price for price in prices if price.is_for_model(model)), None)
        if price is None:
            return None
        costs.append(price.compute_cost(tokens))
    return sum(costs) if costs else None


def add_estimated_cost(session: AgentSession, rules: Iterable[str]) -> AgentSession:
    """Estimate the cost of a session that has none. An agent without a price for its model reports 0."""
    usage = session.usage
    if usage.cost or not usage.total or not (prices := [parse_price_rule(rule) for rule in rules]):
        return session
    cost = estimate_cost(prices, _list_tokens_by_model(session))
    return session if cost is None else replace(session, usage=replace(usage, cost=cost, is_estimated=True))


def _list_tokens_by_model(session: AgentSession) -> Mapping[str, TokenCounts]:
    """Return the tokens by model. Totals without messages are attributed to the session's model."""
    usage = session.usage
    totals = TokenCounts(input=usage.input or 0, output=usage.output or 0, cached=usage.cached or 0)
    is_complete = sum(one.input + one.output for one in session.by_model.values()) >= totals.input + totals.output
    return session.by_model if is_complete and session.by_model else {session.model: totals}


def _parse_dollars(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"has {text[:40]!r} where a price in dollars is expected") from None
    if not 0 <= number < math.inf:
        raise ValueError(f"has the price {text[:40]!r}, which is not a valid amount of dollars")
    return number


@cache
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern), re.IGNORECASE)
