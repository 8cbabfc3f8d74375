"""Tokens and limits, as Codex counts them: its server and its files tell the same in two spellings."""

from collections.abc import Mapping

from termvisor.agents.adapters.json_access import JsonObject, get_int
from termvisor.agents.adapters.statements import build_payload
from termvisor.clock import NS
from termvisor.model.agent.signal import NO_FLAG_UPDATE, FlagUpdate
from termvisor.model.event import Scalar

_FULL_PERCENT = 100
_TOKEN_FIELDS = {
    "total": "total_tokens",
    "input": "input_tokens",
    "output": "output_tokens",
    "cached": "cached_input_tokens",
    "reasoning": "reasoning_output_tokens",
}


def build_usage_payload(total: JsonObject, last: JsonObject, window: int | None) -> dict[str, Scalar]:
    """Of the session in all, and how full the last request made the context window."""
    now = _get_token_count(last, "total_tokens") or 0
    counts = {ours: _get_token_count(total, theirs) for ours, theirs in _TOKEN_FIELDS.items()}
    given, cached = counts["input"], counts["cached"]
    return build_payload(
        **counts | {"input": None if given is None else max(0, given - (cached or 0))},
        context_used=now / window if window else None,
        context_size=window or None,
    )


def build_thread_usage_payload(usage: JsonObject) -> dict[str, Scalar]:
    """Of a thread in all, where only the parts are told."""
    given, output = _get_token_count(usage, "input_tokens"), _get_token_count(usage, "output_tokens")
    whole = None if given is None or output is None else {"total_tokens": given + output}
    return {} if whole is None else build_usage_payload({**usage, **whole}, {}, None)


def build_request_usage_payload(message_id: str, usage: JsonObject) -> dict[str, Scalar]:
    """What one answer of the model took. Its input counts what came out of a cache, or went into one, once more."""
    given, output = _get_token_count(usage, "input_tokens"), _get_token_count(usage, "output_tokens")
    if given is None or output is None:
        return {}
    cached, written = (
        _get_token_count(usage, "cached_input_tokens") or 0,
        _get_token_count(usage, "cache_write_input_tokens") or 0,
    )
    return build_payload(
        message_id=message_id,
        message_input=max(0, given - cached - written),
        message_output=output,
        message_cached=cached + written,
        message_written=written,
    )


def _get_token_count(usage: JsonObject, name: str) -> int | None:
    head, *rest = name.split("_")
    found = get_int(usage, name)
    return get_int(usage, head + "".join(map(str.capitalize, rest))) if found is None else found


def build_window_flags(limits: object) -> FlagUpdate:
    """From a report on the account's windows: one that is used up ends at a known second."""
    if not isinstance(limits, Mapping):
        return NO_FLAG_UPDATE
    windows = [one for name in ("primary", "secondary") if isinstance(one := limits.get(name), Mapping)]
    spent = [
        _get_reset_time(one) for one in windows if _get_number(one, "usedPercent", "used_percent") >= _FULL_PERCENT
    ]
    if not spent:
        return FlagUpdate(usage_limited=False) if windows else NO_FLAG_UPDATE
    return FlagUpdate(usage_limited=True, resets_at=max(spent) or None)


def build_window_payload(limits: object) -> dict[str, Scalar]:
    """What is used of each of the account's windows, how long it is and when it ends, as far as that is told."""
    told = limits if isinstance(limits, Mapping) else {}
    found: dict[str, Scalar] = {}
    for name in ("primary", "secondary"):
        window = told.get(name)
        if isinstance(window, Mapping) and {"usedPercent", "used_percent"} & window.keys():
            minutes = _get_number(window, "windowDurationMins", "windowMinutes", "window_minutes")
            found[f"window_{name}_used"] = _get_number(window, "usedPercent", "used_percent")
            found[f"window_{name}_minutes"] = int(minutes) or None
            found[f"window_{name}_resets"] = _get_reset_time(window) // NS or None
    return {name: value for name, value in found.items() if value is not None}


def _get_reset_time(window: Mapping[str, object]) -> int:
    return int(_get_number(window, "resetsAt", "resets_at")) * NS


def _get_number(window: Mapping[str, object], *names: str) -> float:
    found = next((window[name] for name in names if name in window), 0)
    return float(found) if isinstance(found, int | float) else 0.0
