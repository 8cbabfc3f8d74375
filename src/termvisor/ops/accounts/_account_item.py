"""An account as operations tell it: who it is, what is left, and where its credentials are; never what they are."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.errors import NotFound
from termvisor.model.agent.account import Account, AccountStatus, Allowance, Service, UsageType, find_account
from termvisor.ops.api.services import Services
from termvisor.redaction import redact

ServiceFilter = Annotated[
    Service | None, Meta(description="Only those of this service: `openai`, `anthropic` or `google`.")
]
AccountReference = Annotated[
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


def build_account_item(account_status: AccountStatus, now: int) -> AccountItem:
    account = account_status.account
    return AccountItem(
        service=account.service,
        name=account.name,
        email=redact(account.email),
        active=account.active,
        in_use=account_status.is_in_use,
        priority=account.priority,
        percent_remaining=account_status.compute_remaining_percent(now),
        resets_at=_format_time(account_status.find_reset_time(now)),
        last_check=_format_time(account_status.checked_at),
        last_used=_format_time(account_status.last_used_at),
        browser_profile=redact(account.browser_profile),
        credentials=describe_credentials(account),
        trouble=redact(account_status.trouble),
        usage=tuple(_build_allowance_item(one, now) for one in account_status.allowances),
    )


def describe_credentials(account: Account) -> str:
    """Where they are. Of a command only its program is told: an argument may name more than it should."""
    if account.env_file:
        return redact(f"env_file {account.env_file}")
    if account.command:
        return redact(f"command {account.command[0]}")
    return redact(f"config_dir {account.config_dir}") if account.config_dir else "the agent's own login"


async def find_account_status(services: Services, reference: str) -> AccountStatus:
    known = await services.accounts.list_statuses()
    account = find_account([one.account for one in known], reference)
    if account is None:
        raise NotFound(f"there is no account {reference!r}", hint="`visor accounts list` shows them.")
    return next(one for one in known if one.account == account)


def format_percent(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.0f} %"


def _build_allowance_item(allowance: Allowance, now: int) -> AllowanceItem:
    return AllowanceItem(
        span=redact(allowance.span),
        usage_type=allowance.usage_type,
        limit=allowance.limit,
        current=allowance.current,
        percent_remaining=allowance.compute_remaining_percent(now),
        resets_at=_format_time(allowance.resets_at),
        checked_at=format_timestamp(allowance.checked_at),
        source=redact(allowance.source),
    )


def _format_time(timestamp: int | None) -> str | None:
    return None if timestamp is None else format_timestamp(timestamp)
