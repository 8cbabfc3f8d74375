"""Rate limiting with token buckets, as pure functions.

A bucket holds one minute's worth of tokens and refills evenly. Its only state is the time at which it
will be full again, so it needs no timer and can be stored.
"""

from msgspec import Struct

from termvisor.model.action.policy import RateLimits

_MINUTE_NS = 60 * 10**9


class TokenBucket(Struct, frozen=True):
    """``full_at`` is in ns since 1970; a past time means a full bucket."""

    full_at: int = 0


class TakeResult(Struct, frozen=True):
    """``retry_at`` is the time when a token will be available; None if one was taken."""

    bucket: TokenBucket
    retry_at: int | None = None


FULL_BUCKET = TokenBucket()


def take_token(bucket: TokenBucket, per_minute: int, at: int) -> TakeResult:
    """Take one token. A refusal leaves the bucket unchanged."""
    cost = _MINUTE_NS // per_minute
    size = cost * per_minute
    # Limited to `at + size`, so that setting the clock back cannot keep a bucket empty for over a minute.
    full_at = min(max(bucket.full_at, at), at + size) + cost
    if full_at - at > size:
        return TakeResult(TokenBucket(full_at - cost), full_at - size)
    return TakeResult(TokenBucket(full_at))


def find_limits(rates: RateLimits, pane: int | None, kind: str, actor: tuple[str, str]) -> dict[str, int]:
    """Return the buckets that an action takes a token from, as a dict from name to limit per minute."""
    limits = {f"pane:{pane if pane is not None else '-'}:{kind}": rates.per_minute}
    actor_limit = next((limit for name, limit in rates.actors.items() if name == actor[0]), None)
    return limits | ({f"actor:{actor[0]}:{actor[1]}": actor_limit} if actor_limit else {})
