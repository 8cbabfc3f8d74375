"""Tokens and limits, as Codex counts them: its server and its files tell the same in two spellings."""

from collections.abc import Mapping

from termvisor.agents.adapters.json_access import Json, number
from termvisor.agents.adapters.statements import payload
from termvisor.clock import NS
from termvisor.model.agent.signal import SILENT, FlagsTold
from termvisor.model.event import Scalar

_FULL = 100
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
    counts = {ours: _count(total, theirs) for ours, theirs in _NAMES.items()}
    given, cached = counts["input"], counts["cached"]
    return payload(
        **counts | {"input": None if given is None else max(0, given - (cached or 0))},
        context_used=now / window if window else None,
        context_size=window or None,
    )


def summed(used: Json) -> dict[str, Scalar]:
    """Of a thread in all, where only the parts are told."""
    given, output = _count(used, "input_tokens"), _count(used, "output_tokens")
    whole = None if given is None or output is None else {"total_tokens": given + output}
    return {} if whole is None else counted({**used, **whole}, {}, None)


def of_request(name: str, used: Json) -> dict[str, Scalar]:
    """What one answer of the model took. Its input counts what came out of a cache, or went into one, once more."""
    given, output = _count(used, "input_tokens"), _count(used, "output_tokens")
    if given is None or output is None:
        return {}
    cached, written = _count(used, "cached_input_tokens") or 0, _count(used, "cache_write_input_tokens") or 0
    return payload(
        message_id=name,
        message_input=max(0, given - cached - written),
        message_output=output,
        message_cached=cached + written,
        message_written=written,
    )


def _count(usage: Json, name: str) -> int | None:
    head, *rest = name.split("_")
    found = number(usage, name)
    return number(usage, head + "".join(map(str.capitalize, rest))) if found is None else found


def window_flags(limits: object) -> FlagsTold:
    """From a report on the account's windows: one that is used up ends at a known second."""
    if not isinstance(limits, Mapping):
        return SILENT
    windows = [one for name in ("primary", "secondary") if isinstance(one := limits.get(name), Mapping)]
    spent = [_end(one) for one in windows if _number(one, "usedPercent", "used_percent") >= _FULL]
    if not spent:
        return FlagsTold(usage_limited=False) if windows else SILENT
    return FlagsTold(usage_limited=True, resets_at=max(spent) or None)


def window_figures(limits: object) -> dict[str, Scalar]:
    """What is used of each of the account's windows, how long it is and when it ends, as far as that is told."""
    told = limits if isinstance(limits, Mapping) else {}
    found: dict[str, Scalar] = {}
    for name in ("primary", "secondary"):
        window = told.get(name)
        if isinstance(window, Mapping) and {"usedPercent", "used_percent"} & window.keys():
            minutes = _number(window, "windowDurationMins", "windowMinutes", "window_minutes")
            found[f"window_{name}_used"] = _number(window, "usedPercent", "used_percent")
            found[f"window_{name}_minutes"] = int(minutes) or None
            found[f"window_{name}_resets"] = _end(window) // NS or None
    return {name: value for name, value in found.items() if value is not None}


def _end(window: Mapping[str, object]) -> int:
    return int(_number(window, "resetsAt", "resets_at")) * NS


def _number(window: Mapping[str, object], *names: str) -> float:
    found = next((window[name] for name in names if name in window), 0)
    return float(found) if isinstance(found, int | float) else 0.0
