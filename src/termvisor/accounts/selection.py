"""Which account to use: the one with the most left, if that is enough; of equals the least recently used. Pure.

Invariant: one of which nobody knows how much is left is taken only when none is known to have enough, and one that is
known to have too little is never taken.
"""

from collections.abc import Collection, Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.model.agent.account import Judged, Pick, Service, Standing

_ORDER = ("fits", "unknown", "scarce", "not_active", "excluded")


class Wanted(Struct, frozen=True, kw_only=True):
    """Of a service, with at least ``threshold`` percent left; ``names`` are the only ones that may be taken."""

    service: Service
    threshold: float
    now: int
    names: Collection[str] | None = None
    without: Collection[str] = ()


def choose(standings: Sequence[Standing], wanted: Wanted) -> Pick:
    own = [one for one in standings if one.account.service == wanted.service]
    judged = sorted(((_judged(one, wanted), one) for one in own), key=_rank)
    told = [verdict for verdict, _ in judged]
    if not judged or told[0].verdict not in ("fits", "unknown"):
        return Pick(why=_none(told, wanted), candidates=tuple(told))
    best, standing = judged[0]
    told[0] = replace(best, verdict="chosen")
    return Pick(account=standing.account, why=f"{best.ref}: {best.why}", candidates=tuple(told))


def _judged(standing: Standing, wanted: Wanted) -> Judged:
    account, left = standing.account, standing.remaining(wanted.now)
    ref = account.ref
    if ref in wanted.without:
        return Judged(ref=ref, verdict="excluded", why="it is the one that cannot go on", remaining=left)
    if wanted.names is not None and not {account.name, ref} & set(wanted.names):
        return Judged(ref=ref, verdict="excluded", why="another one was named", remaining=left)
    if not account.active:
        return Judged(ref=ref, verdict="not_active", why="it is not active", remaining=left)
    if left is None:
        return Judged(ref=ref, verdict="unknown", why="nobody knows how much is left")
    if left < wanted.threshold or left <= 0:
        why = f"{left:g} % are left, less than {wanted.threshold:g} %" if left else "nothing is left"
        return Judged(ref=ref, verdict="scarce", why=why, remaining=left)
    return Judged(ref=ref, verdict="fits", why=f"{left:g} % are left", remaining=left)


def _rank(entry: tuple[Judged, Standing]) -> tuple[int, int, int, int, str]:
    """Whole percents are compared: a smaller difference is none, and then the turn counts."""
    judged, standing = entry
    return (
        _ORDER.index(judged.verdict),
        -round(judged.remaining or 0),
        standing.last_used_at or 0,
        standing.account.priority,
        judged.ref,
    )


def _none(told: Sequence[Judged], wanted: Wanted) -> str:
    if not told:
        return f"there is no account of {wanted.service}"
    return "no account fits: " + "; ".join(f"{one.ref}: {one.why}" for one in told)
