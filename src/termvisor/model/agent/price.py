"""A rule of the setting `agent_prices`: what a model's tokens cost, in US dollars for a million of each kind.

claude-opus-* :: 15 :: 75 :: 1.5 :: 18.75

The kinds are input, output, and where a cache has prices of its own, reading from it and writing into it. Both count as
input where they are not given. The first rule that fits a model's name counts; prices change, so none are built in.
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
    """A name with ``*`` and ``?``, in any case."""
    input: float
    output: float
    cached: float
    written: float

    def is_for_model(self, model: str) -> bool:
        return _compile_pattern(self.model).match(model) is not None

    def compute_cost(self, spent: TokenCounts) -> float:
        """US dollars."""
        parts = ((getattr(spent, name), getattr(self, name)) for name in TokenCounts.__struct_fields__)
        return float(sum(tokens * dollars for tokens, dollars in parts)) / _TOKENS_PER_PRICE


def parse_price_rule(text: str) -> ModelPrice:
    """ValueError, with what is wrong, for a text that is no rule."""
    model, *prices = [part.strip() for part in text.split("::")]
    if not model or not 2 <= len(prices) <= 4:
        raise ValueError("is not of the form `model :: input :: output :: from cache :: into cache`")
    numbers = [_parse_dollars(one) for one in prices]
    given, output = numbers[:2]
    cached, written = (*numbers[2:], *[given] * (4 - len(numbers)))
    return ModelPrice(model=model, input=given, output=output, cached=cached, written=written)


def find_price_problem(text: str) -> str:
    """Why a text is no rule; empty for one that is."""
    try:
        parse_price_rule(text)
    except ValueError as error:
        return str(error)
    return ""


def estimate_cost(prices: Sequence[ModelPrice], spent: Mapping[str, TokenCounts]) -> float | None:
    """What these models' tokens cost; None where one of them has no price."""
    found = [(next((one for one in prices if one.is_for_model(model)), None), what) for model, what in spent.items()]
    known = [price.compute_cost(what) for price, what in found if price is not None]
    return sum(known) if known and len(known) == len(found) else None


def add_estimated_cost(session: AgentSession, rules: Iterable[str]) -> AgentSession:
    """With an estimated cost where the agent told none; an agent without a price for its model tells 0."""
    usage = session.usage
    if usage.cost or not usage.total or not (prices := [parse_price_rule(rule) for rule in rules]):
        return session
    cost = estimate_cost(prices, _list_tokens_by_model(session))
    return session if cost is None else replace(session, usage=replace(usage, cost=cost, is_estimated=True))


def _list_tokens_by_model(session: AgentSession) -> Mapping[str, TokenCounts]:
    """By model; where only sums are told they are those of the model that is named."""
    usage = session.usage
    told = TokenCounts(input=usage.input or 0, output=usage.output or 0, cached=usage.cached or 0)
    has_answers = sum(one.input + one.output for one in session.by_model.values()) >= told.input + told.output
    return session.by_model if has_answers and session.by_model else {session.model: told}


def _parse_dollars(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"has {text[:40]!r} in place of a number of dollars") from None
    if not 0 <= number < math.inf:
        raise ValueError(f"has the price {text[:40]!r}, which is no number of dollars")
    return number


@cache
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern), re.IGNORECASE)
