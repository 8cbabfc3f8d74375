"""Parse Codex token counts and usage limits. The server and the files spell the same fields differently."""

from collections.abc import Mapping

from termvisor.agents.adapters.json_access import JsonObject, get_int
from termvisor.agents.adapters.statements import build_payload
from termvisor.clock import NS
from termvisor.model.agent.signal import NO_FLAG_UPDATE, FlagUpdate
from termvisor.model.event import Scalar

_TOKEN_FIELDS = {
    "total": "total_tokens",
    "input": "input_tokens",
    "output": "output_tokens",
    "cached": "cached_input_tokens",
    "reasoning": "reasoning_output_tokens",
}


def build_usage_payload(total: JsonObject, last: JsonObject, window: int | None) -> dict[str, Scalar]:
    """Return the token totals of a session, and how much of the context window its last request used."""
    context_tokens = _get_token_count(last, "total_tokens") or 0
    counts = {name: _get_token_count(total, codex_name) for name, codex_name in _TOKEN_FIELDS.items()}
    input_tokens, cached_tokens = counts["input"], counts["cached"]
    if input_tokens is not None:  # Codex includes cached tokens
        counts["input"] = max(0, input_tokens - (cached_tokens or 0))
    context_used = context_tokens / window if window else None
    return build_payload(**counts, context_used=context_used, context_size=window or None)


def build_thread_usage_payload(usage: JsonObject) -> dict[str, Scalar]:
    """Return the token totals of a thread whose report contains no sum."""
    input_tokens, output_tokens = _get_token_count(usage, "input_tokens"), _get_token_count(usage, "output_tokens")
    if input_tokens is None or output_tokens is None:
        return {}
    return build_usage_payload({**usage, "total_tokens": input_tokens + output_tokens}, {}, None)


def build_request_usage_payload(message_id: str, usage: JsonObject) -> dict[str, Scalar]:
    """Return the token usage of one request. Codex includes tokens read from and written to the cache in the input."""
    input_tokens, output_tokens = _get_token_count(usage, "input_tokens"), _get_token_count(usage, "output_tokens")
    if input_tokens is None or output_tokens is None:
        return {}
    cached = _get_token_count(usage, "cached_input_tokens") or 0
    written = _get_token_count(usage, "cache_write_input_tokens") or 0
    return build_payload(
        message_id=message_id,
        message_input=max(0, input_tokens - cached - written),
        message_output=output_tokens,
        message_cached=cached + written,
        message_written=written,
    )


def _get_token_count(usage: JsonObject, name: str) -> int | None:
    """Return the count with this name, spelled in snake case or camel case."""
    head, *rest = name.split("_")
    count = get_int(usage, name)
    return get_int(usage, head + "".join(map(str.capitalize, rest))) if count is None else count


def build_window_flags(limits: object) -> FlagUpdate:
    """Return the usage-limit flag derived from a report on the account's limit windows."""
    if not isinstance(limits, Mapping):
        return NO_FLAG_UPDATE
    windows = [window for name in ("primary", "secondary") if isinstance(window := limits.get(name), Mapping)]
    reset_times = [
        _get_reset_time(window) for window in windows if _get_number(window, "usedPercent", "used_percent") >= 100
    ]
    if not reset_times:
        return FlagUpdate(usage_limited=False) if windows else NO_FLAG_UPDATE
    return FlagUpdate(usage_limited=True, resets_at=max(reset_times) or None)


def build_window_payload(limits: object) -> dict[str, Scalar]:
    """Return the used percentage, length and reset time of each limit window of the account."""
    windows = limits if isinstance(limits, Mapping) else {}
    payload: dict[str, Scalar] = {}
    for name in ("primary", "secondary"):
        window = windows.get(name)
        if isinstance(window, Mapping) and {"usedPercent", "used_percent"} & window.keys():
            minutes = _get_number(window, "windowDurationMins", "windowMinutes", "window_minutes")
            payload[f"window_{name}_used"] = _get_number(window, "usedPercent", "used_percent")
            payload[f"window_{name}_minutes"] = int(minutes) or None
            payload[f"window_{name}_resets"] = _get_reset_time(window) // NS or None
    return {name: value for name, value in payload.items() if value is not None}


def _get_reset_time(window: Mapping[str, object]) -> int:
    return int(_get_number(window, "resetsAt", "resets_at")) * NS


def _get_number(window: Mapping[str, object], *names: str) -> float:
    number = next((window[name] for name in names if name in window), 0)
    return float(number) if isinstance(number, int | float) else 0.0
