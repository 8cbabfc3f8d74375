"""An Account is a login at a service that agents work under, and what is left of its allowances.

Invariant: it holds no secret. It says where credentials are; they are looked up by the program that is to use them, in
its own process, at the moment it starts.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

Service = Literal["openai", "anthropic", "google"]
SERVICES: tuple[Service, ...] = ("openai", "anthropic", "google")
UsageType = Literal["rate", "credits"]
"""A window of time after which an allowance is whole again, or an amount that only a payment fills."""
SERVICE_BY_AGENT: dict[str, Service] = {"codex": "openai", "claude_code": "anthropic", "gemini": "google"}
"""The service that an agent works with. Agents with many services are not here: nobody can tell which one they use."""
UNKNOWN_SPAN = "all"
"""The span of a limit of which nobody said what it is of."""
_MAX_ALLOWANCE_AGE_NS = 5 * 3600 * 10**9
"""Nanoseconds: the shortest of the usual windows."""
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@+-")


class Account(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """As the config file declares it."""

    service: Service
    name: str
    """Unique among those of its service."""
    email: str = ""
    priority: int = 100
    """Of two that are alike in all else, the lower one goes first."""
    active: bool = True
    """Whether it may be chosen."""
    browser_profile: str = ""
    """The profile of the browser in which a person is logged in to it."""
    env_file: str = ""
    """A file of lines ``NAME=value``."""
    command: tuple[str, ...] = ()
    """A program that prints such lines."""
    config_dir: str = ""
    """The agent's own folder of settings and logins."""

    def __post_init__(self) -> None:
        if not self.name or len(self.name) > 100 or not _NAME_CHARACTERS.issuperset(self.name):
            raise ValueError(f"the name {self.name[:100]!r} of an account is not made of letters, digits and ._@+-")
        if sum(map(bool, (self.env_file, self.command, self.config_dir))) > 1:
            raise ValueError(f"account {self.ref}: only one of env_file, command and config_dir says where it logs in")

    @property
    def ref(self) -> str:
        """How it is named everywhere: ``openai/work``."""
        return f"{self.service}/{self.name}"


class Allowance(Struct, frozen=True, kw_only=True):
    """What is left of one limit of an account. None: not told."""

    span: str
    """What it is of: ``5h``, ``weekly``, ``credits``; ``all`` where nobody said."""
    usage_type: UsageType = "rate"
    limit: float | None = None
    current: float | None = None
    percent_remaining: float | None = None
    resets_at: int | None = None
    checked_at: int
    source: str
    """Who told: ``signal``, ``rule``, or the name of the tracker."""

    @property
    def is_exact(self) -> bool:
        """Whether its source tells all windows of the account, with their figures."""
        return self.span != UNKNOWN_SPAN and self.source != "rule"

    def compute_remaining_percent(self, now: int) -> float | None:
        """Percent at this moment: what refills is whole again once its time came; what was told too long ago, and not
        until when, counts no more."""
        if self.usage_type == "credits":
            return self.percent_remaining
        if self.resets_at is not None:
            return 100.0 if self.resets_at <= now else self.percent_remaining
        return self.percent_remaining if now - self.checked_at < _MAX_ALLOWANCE_AGE_NS else None


class AccountStatus(Struct, frozen=True, kw_only=True):
    """What is known of an account."""

    account: Account
    is_in_use: bool = False
    last_used_at: int | None = None
    checked_at: int | None = None
    trouble: str = ""
    """Why the last check told nothing."""
    allowances: tuple[Allowance, ...] = ()

    def compute_remaining_percent(self, now: int) -> float | None:
        """Percent of the scarcest allowance; None where nothing is known."""
        scarcest = self._find_scarcest(now)
        return None if scarcest is None else scarcest.compute_remaining_percent(now)

    def find_reset_time(self, now: int) -> int | None:
        """When the scarcest is whole again."""
        scarcest = self._find_scarcest(now)
        return None if scarcest is None or (scarcest.resets_at or 0) <= now else scarcest.resets_at

    def _find_scarcest(self, now: int) -> Allowance | None:
        """Where the agent told its windows later than somebody said that a limit was reached, the windows count."""
        windows = max((one.checked_at for one in self.allowances if one.is_exact), default=0)
        counting = [one for one in self.allowances if one.span != UNKNOWN_SPAN or one.checked_at >= windows]
        known = [(left, one.span, one) for one in counting if (left := one.compute_remaining_percent(now)) is not None]
        return min(known, key=lambda entry: entry[:2], default=(0.0, "", None))[2]


class AccountCandidate(Struct, frozen=True, kw_only=True):
    """One candidate and why it is where it is."""

    ref: str
    verdict: Literal["chosen", "fits", "unknown", "scarce", "not_active", "excluded"]
    why: str
    remaining: float | None = None


class AccountChoice(Struct, frozen=True, kw_only=True):
    """Which account to use: none where none fits."""

    account: Account | None = None
    why: str = ""
    candidates: tuple[AccountCandidate, ...] = ()
    """The best first."""


def find_account(accounts: Sequence[Account], ref: str) -> Account | None:
    """By its whole name, or by its own one where that is unique among all services."""
    named = [one for one in accounts if ref in (one.ref, one.name)]
    exact = [one for one in named if one.ref == ref] or named
    return exact[0] if len(exact) == 1 else None
