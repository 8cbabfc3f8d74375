"""An account as operations tell it: who it is, what is left, and where its credentials are; never what they are."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import iso
from termvisor.errors import NotFound
from termvisor.model.agent.account import Account, Allowance, Service, Standing, UsageType, find
from termvisor.ops.api.services import World
from termvisor.redaction import redact

OneService = Annotated[
    Service | None, Meta(description="Only those of this service: `openai`, `anthropic` or `google`.")
]
Named = Annotated[
    str, Meta(description="Its name, or `service/name`.", extra={"positional": "one"}, min_length=1, max_length=200)
]


class AllowanceItem(Struct, frozen=True, kw_only=True):
    """One limit. ``percent_remaining`` is what is left now; null: nobody knows."""

    span: str
    usage_type: UsageType
    limit: float | None
    current: float | None
    percent_remaining: float | None
    resets_at: str | None
    checked_at: str
    source: str


class AccountItem(Struct, frozen=True, kw_only=True):
    """``percent_remaining`` and ``resets_at`` are those of its scarcest limit. ``credentials`` says where they are."""

    service: Service
    name: str
    email: str
    active: bool
    in_use: bool
    priority: int
    percent_remaining: float | None
    resets_at: str | None
    last_check: str | None
    last_used: str | None
    browser_profile: str
    credentials: str
    trouble: str
    usage: tuple[AllowanceItem, ...]


def account_item(standing: Standing, now: int) -> AccountItem:
    account = standing.account
    return AccountItem(
        service=account.service,
        name=account.name,
        email=redact(account.email),
        active=account.active,
        in_use=standing.is_in_use,
        priority=account.priority,
        percent_remaining=standing.remaining(now),
        resets_at=_time(standing.resets_at(now)),
        last_check=_time(standing.checked_at),
        last_used=_time(standing.last_used_at),
        browser_profile=redact(account.browser_profile),
        credentials=credentials(account),
        trouble=redact(standing.trouble),
        usage=tuple(_allowance(one, now) for one in standing.allowances),
    )


def credentials(account: Account) -> str:
    """Where they are. Of a command only its program is told: an argument may name more than it should."""
    if account.env_file:
        return redact(f"env_file {account.env_file}")
    if account.command:
        return redact(f"command {account.command[0]}")
    return redact(f"config_dir {account.config_dir}") if account.config_dir else "the agent's own login"


async def standing(world: World, ref: str) -> Standing:
    known = await world.accounts.standings()
    account = find([one.account for one in known], ref)
    if account is None:
        raise NotFound(f"there is no account {ref!r}", hint="`visor accounts list` shows them.")
    return next(one for one in known if one.account == account)


def percent(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.0f} %"


def _allowance(one: Allowance, now: int) -> AllowanceItem:
    return AllowanceItem(
        span=redact(one.span),
        usage_type=one.usage_type,
        limit=one.limit,
        current=one.current,
        percent_remaining=one.remaining(now),
        resets_at=_time(one.resets_at),
        checked_at=iso(one.checked_at),
        source=redact(one.source),
    )


def _time(at: int | None) -> str | None:
    return None if at is None else iso(at)
