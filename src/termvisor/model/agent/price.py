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

from termvisor.model.agent.session import AgentSession, Spent

_MILLION = 1_000_000


class Price(Struct, frozen=True, kw_only=True):
    model: str
    """A name with ``*`` and ``?``, in any case."""
    input: float
    output: float
    cached: float
    written: float

    def fits(self, model: str) -> bool:
        return _compiled(self.model).match(model) is not None

    def of(self, spent: Spent) -> float:
        """US dollars."""
        parts = ((getattr(spent, name), getattr(self, name)) for name in Spent.__struct_fields__)
        return float(sum(tokens * dollars for tokens, dollars in parts)) / _MILLION


def price_of(text: str) -> Price:
    """ValueError, with what is wrong, for a text that is no rule."""
    model, *prices = [part.strip() for part in text.split("::")]
    if not model or not 2 <= len(prices) <= 4:
        raise ValueError("is not of the form `model :: input :: output :: from cache :: into cache`")
    numbers = [_dollars(one) for one in prices]
    given, output = numbers[:2]
    cached, written = (*numbers[2:], *[given] * (4 - len(numbers)))
    return Price(model=model, input=given, output=output, cached=cached, written=written)


def complaint(text: str) -> str:
    """Why a text is no rule; empty for one that is."""
    try:
        price_of(text)
    except ValueError as error:
        return str(error)
    return ""


def estimate(prices: Sequence[Price], spent: Mapping[str, Spent]) -> float | None:
    """What these models' tokens cost; None where one of them has no price."""
    found = [(next((one for one in prices if one.fits(model)), None), what) for model, what in spent.items()]
    known = [price.of(what) for price, what in found if price is not None]
    return sum(known) if known and len(known) == len(found) else None


def priced(session: AgentSession, rules: Iterable[str]) -> AgentSession:
    """With an estimated cost where the agent told none; an agent without a price for its model tells 0."""
    usage = session.usage
    if usage.cost or not usage.total or not (prices := [price_of(rule) for rule in rules]):
        return session
    cost = estimate(prices, _spent(session))
    return session if cost is None else replace(session, usage=replace(usage, cost=cost, is_estimated=True))


def _spent(session: AgentSession) -> Mapping[str, Spent]:
    """By model; where only sums are told they are those of the model that is named."""
    usage = session.usage
    told = Spent(input=usage.input or 0, output=usage.output or 0, cached=usage.cached or 0)
    has_answers = sum(one.input + one.output for one in session.by_model.values()) >= told.input + told.output
    return session.by_model if has_answers and session.by_model else {session.model: told}


def _dollars(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"has {text[:40]!r} in place of a number of dollars") from None
    if not 0 <= number < math.inf:
        raise ValueError(f"has the price {text[:40]!r}, which is no number of dollars")
    return number


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern), re.IGNORECASE)
