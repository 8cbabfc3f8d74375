"""Select an account: the one with the most remaining quota above a threshold, then the least recently used. Pure.

Invariants: an account with unknown quota is selected only if no account is known to have enough; an account known to
have too little is never selected.
"""

from collections.abc import Collection, Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.model.agent.account import AccountCandidate, AccountChoice, AccountStatus, Service

_VERDICT_ORDER = ("fits", "unknown", "scarce", "not_active", "excluded")


class AccountRequirements(Struct, frozen=True, kw_only=True):
    """The service, the minimum remaining percentage, and which accounts may be selected."""

    service: Service
    threshold: float
    now: int
    allowed_names: Collection[str] | None = None
    excluded_refs: Collection[str] = ()


def select_account(statuses: Sequence[AccountStatus], requirements: AccountRequirements) -> AccountChoice:
    """Return the best account of the service, if any, and the verdict on each account."""
    service_statuses = [status for status in statuses if status.account.service == requirements.service]
    ranked = sorted(
        ((_evaluate_account(status, requirements), status) for status in service_statuses), key=_build_sort_key
    )
    candidates = [candidate for candidate, _ in ranked]
    if not ranked or candidates[0].verdict not in ("fits", "unknown"):
        return AccountChoice(why=_explain_no_match(candidates, requirements), candidates=tuple(candidates))
    best, status = ranked[0]
    candidates[0] = replace(best, verdict="chosen")
    return AccountChoice(account=status.account, why=f"{best.ref}: {best.why}", candidates=tuple(candidates))


def _evaluate_account(status: AccountStatus, requirements: AccountRequirements) -> AccountCandidate:
    account, left = status.account, status.compute_remaining_percent(requirements.now)
    ref = account.ref
    if ref in requirements.excluded_refs:
        return AccountCandidate(ref=ref, verdict="excluded", why="the agent uses it already", remaining=left)
    if requirements.allowed_names is not None and not {account.name, ref} & set(requirements.allowed_names):
        return AccountCandidate(ref=ref, verdict="excluded", why="not among the requested accounts", remaining=left)
    if not account.active:
        return AccountCandidate(ref=ref, verdict="not_active", why="not active", remaining=left)
    if left is None:
        return AccountCandidate(ref=ref, verdict="unknown", why="remaining quota unknown")
    if left < requirements.threshold or left <= 0:
        why = f"{left:g} % remaining, less than {requirements.threshold:g} %" if left else "no quota remaining"
        return AccountCandidate(ref=ref, verdict="scarce", why=why, remaining=left)
    return AccountCandidate(ref=ref, verdict="fits", why=f"{left:g} % remaining", remaining=left)


def _build_sort_key(entry: tuple[AccountCandidate, AccountStatus]) -> tuple[int, int, int, int, str]:
    candidate, status = entry
    return (
        _VERDICT_ORDER.index(candidate.verdict),
        -round(candidate.remaining or 0),  # rounded, so that accounts with equal whole percentages take turns
        status.last_used_at or 0,
        status.account.priority,
        candidate.ref,
    )


def _explain_no_match(candidates: Sequence[AccountCandidate], requirements: AccountRequirements) -> str:
    if not candidates:
        return f"there is no account of {requirements.service}"
    return "no account is usable: " + "; ".join(f"{candidate.ref}: {candidate.why}" for candidate in candidates)
