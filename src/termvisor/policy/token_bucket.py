"""Token buckets as pure functions: a state goes in, an answer and the next state come out.

A bucket holds as many tokens as its limit allows a minute and fills evenly. Its whole state is the instant at which it
will be full again, so it needs no ticking and survives being stored.
"""

from msgspec import Struct

from termvisor.model.action.policy import RateLimits

_MINUTE_NS = 60 * 10**9


class TokenBucket(Struct, frozen=True):
    """``full_at`` in ns since 1970; an instant that has passed means a full bucket."""

    full_at: int = 0


class TakeResult(Struct, frozen=True):
    """``retry_at`` is when a token will be there; None when one was taken."""

    bucket: TokenBucket
    retry_at: int | None = None


FULL_BUCKET = TokenBucket()


def take_token(bucket: TokenBucket, per_minute: int, at: int) -> TakeResult:
    """One token. A refusal costs nothing. A clock that was set back keeps no bucket empty longer than a minute."""
    cost = _MINUTE_NS // per_minute
    size = cost * per_minute
    full_at = min(max(bucket.full_at, at), at + size) + cost
    if full_at - at > size:
        return TakeResult(TokenBucket(full_at - cost), full_at - size)
    return TakeResult(TokenBucket(full_at))


def find_limits(rates: RateLimits, pane: int | None, kind: str, actor: tuple[str, str]) -> dict[str, int]:
    """The buckets that an action takes a token of, by name, with what each allows a minute."""
    found = {f"pane:{pane if pane is not None else '-'}:{kind}": rates.per_minute}
    own = next((limit for name, limit in rates.actors.items() if name == actor[0]), None)
    return found | ({f"actor:{actor[0]}:{actor[1]}": own} if own else {})
