"""Accounts: the logins to model services that agents use, and their remaining allowances.

Invariant: an account contains no secret, only where the credentials are. The launched program loads them in its own
process when it starts.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

ACCOUNT_VARIABLE = "VISOR_ACCOUNT"
"""Environment variable that names the account a process uses."""
Service = Literal["openai", "anthropic", "google"]
SERVICES: tuple[Service, ...] = ("openai", "anthropic", "google")
UsageType = Literal["rate", "credits"]
"""An allowance that refills after a time window, or prepaid credits."""
SERVICE_BY_AGENT: dict[str, Service] = {"codex": "openai", "claude_code": "anthropic", "gemini": "google"}
"""The service of each agent. Agents that support several services are not listed, as theirs is unknown."""
UNKNOWN_SPAN = "all"
"""Placeholder for an unknown span."""
_MAX_ALLOWANCE_AGE_NS = 5 * 3600 * 10**9
"""The shortest common window (5 h). An older figure without a reset time is outdated."""
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@+-")


class Account(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """An account as declared in the config file."""

    service: Service
    name: str
    """Unique within its service."""
    email: str = ""
    priority: int = 100
    """If all else is equal, the account with the lower number is chosen."""
    active: bool = True
    """Whether the account may be chosen."""
    browser_profile: str = ""
    """The browser profile in which the user is logged in."""
    env_file: str = ""
    """A file with ``NAME=value`` lines."""
    command: tuple[str, ...] = ()
    """A command that prints such lines."""
    config_dir: str = ""
    """The agent's own folder for settings and logins."""

    def __post_init__(self) -> None:
        if not self.name or len(self.name) > 100 or not _NAME_CHARACTERS.issuperset(self.name):
            raise ValueError(f"account name {self.name[:100]!r} is invalid: use 1 to 100 letters, digits and ._@+-")
        if sum(map(bool, (self.env_file, self.command, self.config_dir))) > 1:
            raise ValueError(f"account {self.ref}: set only one of env_file, command and config_dir")

    @property
    def ref(self) -> str:
        """The full name, such as ``openai/work``."""
        return f"{self.service}/{self.name}"


class Allowance(Struct, frozen=True, kw_only=True):
    """What remains of one limit of an account. None means unknown."""

    span: str
    """``5h``, ``weekly``, ``credits``; ``all`` if unknown."""
    usage_type: UsageType = "rate"
    limit: float | None = None
    current: float | None = None
    percent_remaining: float | None = None
    resets_at: int | None = None
    checked_at: int
    source: str
    """The reporting source: ``signal``, ``rule``, or the name of the usage tracker."""

    @property
    def is_exact(self) -> bool:
        """Return True if the source reports figures for all windows of the account."""
        return self.span != UNKNOWN_SPAN and self.source != "rule"

    def compute_remaining_percent(self, now: int) -> float | None:
        """Return the remaining percentage: 100 after the reset time; None for an old figure without a reset time."""
        if self.usage_type == "credits":
            return self.percent_remaining
        if self.resets_at is not None:
            return 100.0 if self.resets_at <= now else self.percent_remaining
        return self.percent_remaining if now - self.checked_at < _MAX_ALLOWANCE_AGE_NS else None


class AccountStatus(Struct, frozen=True, kw_only=True):
    """An account and its allowances."""

    account: Account
    is_in_use: bool = False
    last_used_at: int | None = None
    checked_at: int | None = None
    trouble: str = ""
    """The reason why the last check failed."""
    allowances: tuple[Allowance, ...] = ()

    def compute_remaining_percent(self, now: int) -> float | None:
        """Return the remaining percentage of the scarcest allowance; None if unknown."""
        scarcest = self._find_scarcest(now)
        return None if scarcest is None else scarcest.compute_remaining_percent(now)

    def find_reset_time(self, now: int) -> int | None:
        """Return the time when the scarcest allowance resets."""
        scarcest = self._find_scarcest(now)
        return None if scarcest is None or (scarcest.resets_at or 0) <= now else scarcest.resets_at

    def _find_scarcest(self, now: int) -> Allowance | None:
        """Return the scarcest allowance. Exact windows override an older limit of unknown span."""
        windows = max((one.checked_at for one in self.allowances if one.is_exact), default=0)
        counting = [one for one in self.allowances if one.span != UNKNOWN_SPAN or one.checked_at >= windows]
        known = [(left, one.span, one) for one in counting if (left := one.compute_remaining_percent(now)) is not None]
        return min(known, key=lambda entry: entry[:2], default=(0.0, "", None))[2]


class AccountCandidate(Struct, frozen=True, kw_only=True):
    """A candidate account and why it was or was not chosen."""

    ref: str
    verdict: Literal["chosen", "fits", "unknown", "scarce", "not_active", "excluded"]
    why: str
    remaining: float | None = None


class AccountChoice(Struct, frozen=True, kw_only=True):
    """The account to use; None if no candidate qualifies."""

    account: Account | None = None
    why: str = ""
    candidates: tuple[AccountCandidate, ...] = ()
    """All candidates, best first."""


def find_account(accounts: Sequence[Account], ref: str) -> Account | None:
    """Find an account by its full name, or by its short name if that is unique across services."""
    matches = [account for account in accounts if ref in (account.ref, account.name)]
    matches = [account for account in matches if account.ref == ref] or matches
    return matches[0] if len(matches) == 1 else None
