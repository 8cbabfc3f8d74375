"""Compute the token usage and cost of a session, from reported totals or the sum of its messages. Pure.

Invariant: a message counts once, with the largest figures reported for it, however often it is reported.
"""

from collections.abc import Callable
from operator import add, sub

from msgspec.structs import replace

from termvisor.model.agent.session import AgentSession, MessageUsage, TokenCounts, TokenUsage
from termvisor.model.event import Scalar

_COUNT_NAMES = ("total", "input", "output", "cached", "reasoning")
# Number of remembered messages. The records of a message arrive together, possibly mixed with those of sub-agents.
_MAX_MESSAGES = 24
_NO_TOKENS = TokenCounts()


def apply_usage(session: AgentSession, payload: dict[str, Scalar]) -> AgentSession:
    """Apply the usage figures of one signal."""
    known = _apply_message(replace(session, reported_usage=_merge_totals(session.reported_usage, payload)), payload)
    shown = [cost for cost in (session.cost_so_far, parse_number(payload.get("cost_so_far"))) if cost is not None]
    known = replace(known, cost_so_far=max(shown, default=None))
    return replace(known, usage=_compute_usage(known))


def _compute_usage(session: AgentSession) -> TokenUsage:
    """Return the larger of the reported totals and the sum of messages, because either may have missed something.

    A cost reported for a smaller total is outdated, so the last shown cost is used instead.
    """
    reported, spent = session.reported_usage, list(session.by_model.values())
    input_tokens, output_tokens = sum(one.input for one in spent), sum(one.output for one in spent)
    cached = sum(one.cached + one.written for one in spent)
    total = input_tokens + output_tokens + cached
    shown = session.cost_so_far
    if not spent or total <= (reported.total or 0):
        return reported if reported.cost is not None else replace(reported, cost=shown)
    return replace(
        reported, total=total, input=input_tokens, output=output_tokens, cached=cached, reasoning=None, cost=shown
    )


def _apply_message(session: AgentSession, payload: dict[str, Scalar]) -> AgentSession:
    name = payload.get("message_id")
    if not isinstance(name, str) or not name:
        return session
    before = session.messages.get(name) or MessageUsage(model=_get_model(session, payload))
    after = replace(before, spent=_combine_tokens(before.spent, _parse_tokens(payload), max))
    added = _combine_tokens(after.spent, before.spent, sub)
    # A message is reported several times, usually with the same figures.
    if added == _NO_TOKENS:
        return session
    others = [(one, message) for one, message in session.messages.items() if one != name]
    total = _combine_tokens(session.by_model.get(after.model, _NO_TOKENS), added, add)
    by_model = session.by_model | {after.model: total}
    return replace(session, messages=dict([*others[1 - _MAX_MESSAGES :], (name, after)]), by_model=by_model)


def _get_model(session: AgentSession, payload: dict[str, Scalar]) -> str:
    """Return the model of a message. A sub-agent may use another model than the session."""
    model = payload.get("message_model") or payload.get("model") or session.model
    return model if isinstance(model, str) else ""


def _parse_tokens(payload: dict[str, Scalar]) -> TokenCounts:
    written = _parse_count(payload, "message_written")
    return TokenCounts(
        input=_parse_count(payload, "message_input"),
        output=_parse_count(payload, "message_output"),
        cached=max(0, _parse_count(payload, "message_cached") - written),
        written=written,
    )


def _merge_totals(usage: TokenUsage, payload: dict[str, Scalar]) -> TokenUsage:
    """Replace the reported totals; figures that are not in the payload remain."""
    counts = {name: int(value) for name in _COUNT_NAMES if (value := parse_number(payload.get(name))) is not None}
    if "total" not in counts and counts.keys() >= {"input", "output"}:
        counts["total"] = counts["input"] + counts["output"]
    cost, (context, tokens) = parse_number(payload.get("cost")), _parse_context(payload)
    return replace(
        usage,
        **counts,
        cost=usage.cost if cost is None else cost,
        context_used=usage.context_used if context is None else context,
        context_tokens=usage.context_tokens if tokens is None else tokens,
    )


def _parse_context(payload: dict[str, Scalar]) -> tuple[float | None, int | None]:
    """Return the used share of the context window (0 to 1) and its tokens; ``context_used`` may be either."""
    used, size = parse_number(payload.get("context_used")), parse_number(payload.get("context_size"))
    if used is None:
        tokens = parse_number(payload.get("context_tokens"))
        return None, None if tokens is None else int(tokens)
    if used > 1:
        return min(1.0, used / size) if size else None, int(used)
    return used, round(used * size) if size else None


def parse_number(value: Scalar) -> float | None:
    if isinstance(value, bool | str) or value is None or value < 0:
        return None
    return float(value)


def _parse_count(payload: dict[str, Scalar], name: str) -> int:
    return int(parse_number(payload.get(name)) or 0)


def _combine_tokens(one: TokenCounts, other: TokenCounts, combine: Callable[[int, int], int]) -> TokenCounts:
    """Combine the two sets of counts, one count at a time."""
    return TokenCounts(
        **{name: combine(getattr(one, name), getattr(other, name)) for name in TokenCounts.__struct_fields__}
    )
