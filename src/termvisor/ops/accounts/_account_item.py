"""Build the item that operations return for an account.

Invariant: an item contains the location of the credentials, never the credentials themselves.
"""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.errors import ObjectNotFound
from termvisor.model.agent.account import Account, AccountStatus, Allowance, Service, UsageType, find_account
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import copy_fields, format_optional_timestamp
from termvisor.redaction import redact

ServiceFilter = Annotated[
    Service | None, Meta(description="Only accounts of this service: `openai`, `anthropic` or `google`.")
]
AccountReference = Annotated[
    str,
    Meta(description="Account: `name` or `service/name`.", extra={"positional": "one"}, min_length=1, max_length=200),
]


class AllowanceItem(Struct, frozen=True, kw_only=True):
    """One usage limit. ``percent_remaining`` is what is left now; null if unknown."""

    span: str
    usage_type: UsageType
    limit: float | None
    current: float | None
    percent_remaining: float | None
    resets_at: str | None
    checked_at: str
    source: str


class AccountItem(Struct, frozen=True, kw_only=True):
    """``percent_remaining`` and ``resets_at`` are those of the limit with the least left. ``credentials`` is where they
    are stored.
    """

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
    return copy_fields(
        AccountItem,
        account,
        email=redact(account.email),
        in_use=account_status.is_in_use,
        percent_remaining=account_status.compute_remaining_percent(now),
        resets_at=format_optional_timestamp(account_status.find_reset_time(now)),
        last_check=format_optional_timestamp(account_status.checked_at),
        last_used=format_optional_timestamp(account_status.last_used_at),
        browser_profile=redact(account.browser_profile),
        credentials=describe_credentials(account),
        trouble=redact(account_status.trouble),
        usage=tuple(_build_allowance_item(allowance, now) for allowance in account_status.allowances),
    )


def describe_credentials(account: Account) -> str:
    """Return where the credentials are. A command is shown without arguments, which may contain secrets."""
    if account.env_file:
        return redact(f"env_file {account.env_file}")
    if account.command:
        # The command's arguments may be secrets.
        return redact(f"command {account.command[0]}")
    return redact(f"config_dir {account.config_dir}") if account.config_dir else "the agent's own login"


async def find_account_status(services: Services, reference: str) -> AccountStatus:
    """Return the account with this name, or `service/name`. Raises ObjectNotFound."""
    statuses = await services.accounts.list_statuses()
    account = find_account([status.account for status in statuses], reference)
    if account is None:
        raise ObjectNotFound(f"account {reference!r} not found", hint="`visor accounts list` shows them.")
    return next(status for status in statuses if status.account == account)


def format_percent(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.0f} %"


def _build_allowance_item(allowance: Allowance, now: int) -> AllowanceItem:
    return copy_fields(
        AllowanceItem,
        allowance,
        span=redact(allowance.span),
        percent_remaining=allowance.compute_remaining_percent(now),
        resets_at=format_optional_timestamp(allowance.resets_at),
        checked_at=format_timestamp(allowance.checked_at),
        source=redact(allowance.source),
    )
