"""What a conversation has used: whole sums where the agent tells them, else the sum of its answers. Pure.

Invariant: an answer counts once, with the largest figures that were told of it, however often and in how many lines it
is told.
"""

from msgspec.structs import replace

from termvisor.model.agent.session import AgentSession, Message, Spent, Usage
from termvisor.model.event import Scalar

_COUNTS = ("total", "input", "output", "cached", "reasoning")
_REMEMBERED = 24
"""Answers that are known again. The lines of one stand together; those of sub-agents may come in between."""
_NOTHING = Spent()


def used(session: AgentSession, told: dict[str, Scalar]) -> AgentSession:
    """After one more signal with figures."""
    known = _answered(replace(session, told=_told(session.told, told)), told)
    shown = [cost for cost in (session.cost_so_far, number(told.get("cost_so_far"))) if cost is not None]
    known = replace(known, cost_so_far=max(shown, default=None))
    return replace(known, usage=_whole(known))


def _whole(session: AgentSession) -> Usage:
    """Both measure the same, and each may have missed something: so the larger one counts.

    A cost that was told for less does not hold any more; then the one that the agent showed last does.
    """
    told, spent = session.told, list(session.by_model.values())
    given, written = sum(one.input for one in spent), sum(one.output for one in spent)
    cached = sum(one.cached + one.written for one in spent)
    total = given + written + cached
    shown = session.cost_so_far
    if not spent or total <= (told.total or 0):
        return told if told.cost is not None else replace(told, cost=shown)
    return replace(told, total=total, input=given, output=written, cached=cached, reasoning=None, cost=shown)


def _answered(session: AgentSession, told: dict[str, Scalar]) -> AgentSession:
    name = told.get("message_id")
    if not isinstance(name, str) or not name:
        return session
    before = session.messages.get(name) or Message(model=_model(session, told))
    after = replace(before, spent=_most(before.spent, _spent(told)))
    more = _less(after.spent, before.spent)
    if more == _NOTHING:
        return session
    others = [(one, message) for one, message in session.messages.items() if one != name]
    by_model = session.by_model | {after.model: _more(session.by_model.get(after.model, _NOTHING), more)}
    return replace(session, messages=dict([*others[1 - _REMEMBERED :], (name, after)]), by_model=by_model)


def _model(session: AgentSession, told: dict[str, Scalar]) -> str:
    """A sub-agent may have another one than the conversation."""
    named = told.get("message_model") or told.get("model") or session.model
    return named if isinstance(named, str) else ""


def _spent(told: dict[str, Scalar]) -> Spent:
    written = _count(told, "message_written")
    return Spent(
        input=_count(told, "message_input"),
        output=_count(told, "message_output"),
        cached=max(0, _count(told, "message_cached") - written),
        written=written,
    )


def _told(usage: Usage, told: dict[str, Scalar]) -> Usage:
    """Counts are whole sums, as agents tell them; what is not told stays."""
    counts = {name: int(value) for name in _COUNTS if (value := number(told.get(name))) is not None}
    if "total" not in counts and counts.keys() >= {"input", "output"}:
        counts["total"] = counts["input"] + counts["output"]
    cost, context, tokens = number(told.get("cost")), _context(told), _context_tokens(told)
    return replace(
        usage,
        **counts,
        cost=usage.cost if cost is None else cost,
        context_used=usage.context_used if context is None else context,
        context_tokens=usage.context_tokens if tokens is None else tokens,
    )


def _context(told: dict[str, Scalar]) -> float | None:
    """As a part of the whole; tokens are set against the size of the window."""
    share, size = number(told.get("context_used")), number(told.get("context_size"))
    if share is None or share <= 1:
        return share
    return min(1.0, share / size) if size else None


def _context_tokens(told: dict[str, Scalar]) -> int | None:
    share, size = number(told.get("context_used")), number(told.get("context_size"))
    if share is None:
        tokens = number(told.get("context_tokens"))
        return None if tokens is None else int(tokens)
    return int(share) if share > 1 else round(share * size) if size else None


def number(value: Scalar) -> float | None:
    if isinstance(value, bool | str) or value is None or value < 0:
        return None
    return float(value)


def _count(told: dict[str, Scalar], name: str) -> int:
    return int(number(told.get(name)) or 0)


def _most(one: Spent, other: Spent) -> Spent:
    return Spent(**{name: max(getattr(one, name), getattr(other, name)) for name in Spent.__struct_fields__})


def _more(one: Spent, other: Spent) -> Spent:
    return Spent(**{name: getattr(one, name) + getattr(other, name) for name in Spent.__struct_fields__})


def _less(one: Spent, other: Spent) -> Spent:
    return Spent(**{name: getattr(one, name) - getattr(other, name) for name in Spent.__struct_fields__})
