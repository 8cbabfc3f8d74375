"""Prices of models, in US dollars per million tokens, each a table `[prices."<model>"]`, and estimates of costs.

    [prices."claude-opus-*"]
    input = 15
    output = 75

Cache reads and writes (`cached`, `written`) default to the input price. The first table whose name matches a model
applies. Prices change, so none are built in. The environment, and files of earlier versions, have lines
`model :: input :: output :: cached :: written` instead.
"""

import math
import re
from collections.abc import Mapping
from fnmatch import translate
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from termvisor.model.agent.session import AgentSession, TokenCounts

_TOKENS_PER_PRICE = 1_000_000


class ModelPrice(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    input: float
    output: float
    cached: float | None = None
    written: float | None = None

    def compute_cost(self, spent: TokenCounts) -> float:
        """Return the cost in US dollars."""
        dollars = (self.input if price is None else price for price in (getattr(self, name) for name in PRICE_NAMES))
        tokens = (getattr(spent, name) for name in PRICE_NAMES)
        return float(sum(count * price for count, price in zip(tokens, dollars, strict=True))) / _TOKENS_PER_PRICE


PRICE_NAMES = ModelPrice.__struct_fields__


def parse_price_line(line: str) -> tuple[str, ModelPrice]:
    """Return the model and its price of a line. Raises ValueError with the problem."""
    model, *prices = [part.strip() for part in line.split("::")]
    if not model or not 2 <= len(prices) <= 4:
        raise ValueError("is not of the form `model :: input :: output :: from cache :: into cache`")
    return model, ModelPrice(**dict(zip(PRICE_NAMES, map(_parse_dollars, prices), strict=False)))


def find_price_problem(price: ModelPrice) -> str:
    """Return why a price is not valid; empty if it is."""
    amounts = [amount for name in PRICE_NAMES if (amount := getattr(price, name)) is not None]
    invalid = next((amount for amount in amounts if not 0 <= amount < math.inf), None)
    return "" if invalid is None else f"has the price {invalid:g}, which is not a valid amount of dollars"


def estimate_cost(prices: Mapping[str, ModelPrice], spent: Mapping[str, TokenCounts]) -> float | None:
    """Return the cost of these tokens in US dollars; None if a model has no price."""
    costs = []
    for model, tokens in spent.items():
        price = next((price for name, price in prices.items() if _compile_pattern(name).match(model)), None)
        if price is None:
            return None
        costs.append(price.compute_cost(tokens))
    return sum(costs) if costs else None


def add_estimated_cost(session: AgentSession, prices: Mapping[str, ModelPrice]) -> AgentSession:
    """Estimate the cost of a session that has none. An agent without a price for its model reports 0."""
    usage = session.usage
    if usage.cost or not usage.total or not prices:
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
        return float(text)
    except ValueError:
        raise ValueError(f"has {text[:40]!r} where a price in dollars is expected") from None


@cache
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern), re.IGNORECASE)
