"""Rate limiting with a sliding window, as pure functions: at most ``per_minute`` actions in any 60 seconds.

A token bucket would allow almost twice as many in the minute after a pause: a full bucket and what it refills.
"""

from msgspec import Struct

from termvisor.model.action.policy import RateLimits

_MINUTE_NS = 60 * 10**9


class RateWindow(Struct, frozen=True):
    """The times of the counted actions, in ns since 1970, oldest first. Those older than a minute are dropped."""

    counted_at: tuple[int, ...] = ()


class CountResult(Struct, frozen=True):
    """``retry_at`` is the time when an action will be allowed; None if this one was counted."""

    window: RateWindow
    retry_at: int | None = None


EMPTY_WINDOW = RateWindow()


def count_action(window: RateWindow, per_minute: int, at: int) -> CountResult:
    """Count one action if the limit allows it. A refused action is not counted."""
    # Later times mean that the clock was set back; as of now, they cannot block for more than a minute.
    recent = tuple(min(one, at) for one in window.counted_at if one > at - _MINUTE_NS)
    if len(recent) >= per_minute:
        return CountResult(RateWindow(recent), recent[-per_minute] + _MINUTE_NS)
    return CountResult(RateWindow((*recent, at)))


def find_limits(rates: RateLimits, pane: int | None, kind: str, actor: tuple[str, str]) -> dict[str, int]:
    """Return the windows in which an action counts, as a dict from name to limit per minute."""
    limits = {f"pane:{pane if pane is not None else '-'}:{kind}": rates.per_minute}
    actor_limit = next((limit for name, limit in rates.actors.items() if name == actor[0]), None)
    return limits | ({f"actor:{actor[0]}:{actor[1]}": actor_limit} if actor_limit else {})
