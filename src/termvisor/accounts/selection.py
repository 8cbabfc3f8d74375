"""Which account to use: the one with the most left, if that is enough; of equals the least recently used. Pure.

Invariant: one of which nobody knows how much is left is taken only when none is known to have enough, and one that is
known to have too little is never taken.
"""

from collections.abc import Collection, Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.model.agent.account import AccountCandidate, AccountChoice, AccountStatus, Service

_VERDICT_ORDER = ("fits", "unknown", "scarce", "not_active", "excluded")


class AccountRequirements(Struct, frozen=True, kw_only=True):
    """Of a service, with at least ``threshold`` percent left; ``names`` are the only ones that may be taken."""

    service: Service
    threshold: float
    now: int
    allowed_names: Collection[str] | None = None
    excluded_refs: Collection[str] = ()


def select_account(statuses: Sequence[AccountStatus], requirements: AccountRequirements) -> AccountChoice:
    own = [one for one in statuses if one.account.service == requirements.service]
    judged = sorted(((_evaluate_account(one, requirements), one) for one in own), key=_build_sort_key)
    told = [verdict for verdict, _ in judged]
    if not judged or told[0].verdict not in ("fits", "unknown"):
        return AccountChoice(why=_explain_no_match(told, requirements), candidates=tuple(told))
    best, standing = judged[0]
    told[0] = replace(best, verdict="chosen")
    return AccountChoice(account=standing.account, why=f"{best.ref}: {best.why}", candidates=tuple(told))


def _evaluate_account(status: AccountStatus, requirements: AccountRequirements) -> AccountCandidate:
    account, left = status.account, status.compute_remaining_percent(requirements.now)
    ref = account.ref
    if ref in requirements.excluded_refs:
        return AccountCandidate(ref=ref, verdict="excluded", why="it is the one that cannot go on", remaining=left)
    if requirements.allowed_names is not None and not {account.name, ref} & set(requirements.allowed_names):
        return AccountCandidate(ref=ref, verdict="excluded", why="another one was named", remaining=left)
    if not account.active:
        return AccountCandidate(ref=ref, verdict="not_active", why="it is not active", remaining=left)
    if left is None:
        return AccountCandidate(ref=ref, verdict="unknown", why="nobody knows how much is left")
    if left < requirements.threshold or left <= 0:
        why = f"{left:g} % are left, less than {requirements.threshold:g} %" if left else "nothing is left"
        return AccountCandidate(ref=ref, verdict="scarce", why=why, remaining=left)
    return AccountCandidate(ref=ref, verdict="fits", why=f"{left:g} % are left", remaining=left)


def _build_sort_key(entry: tuple[AccountCandidate, AccountStatus]) -> tuple[int, int, int, int, str]:
    """Whole percents are compared: a smaller difference is none, and then the turn counts."""
    judged, standing = entry
    return (
        _VERDICT_ORDER.index(judged.verdict),
        -round(judged.remaining or 0),
        standing.last_used_at or 0,
        standing.account.priority,
        judged.ref,
    )


def _explain_no_match(candidates: Sequence[AccountCandidate], requirements: AccountRequirements) -> str:
    if not candidates:
        return f"there is no account of {requirements.service}"
    return "no account fits: " + "; ".join(f"{one.ref}: {one.why}" for one in candidates)
