"""Tokens, as Codex counts them: its server and its files tell the same in two spellings."""

from termvisor.agents.evidence import payload
from termvisor.agents.foreign import Json, number
from termvisor.model.event import Scalar

_NAMES = {
    "total": "total_tokens",
    "input": "input_tokens",
    "output": "output_tokens",
    "cached": "cached_input_tokens",
    "reasoning": "reasoning_output_tokens",
}


def counted(total: Json, last: Json, window: int | None) -> dict[str, Scalar]:
    """Of the session in all, and how full the last request made the context window."""
    now = _count(last, "total_tokens") or 0
    return payload(
        **{ours: _count(total, theirs) for ours, theirs in _NAMES.items()},
        context_used=now / window if window else None,
        context_size=window or None,
    )


def _count(usage: Json, name: str) -> int | None:
    head, *rest = name.split("_")
    found = number(usage, name)
    return number(usage, head + "".join(map(str.capitalize, rest))) if found is None else found
