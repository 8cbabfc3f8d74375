"""Settings for the accounts that agents may use. Each account is a table `[[accounts]]`."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from termvisor.model.agent.account import SERVICES, Account
from termvisor.model.did_you_mean import format_suggestion
from termvisor.model.settings.detections import DetectionSettings

ANY_ACCOUNT = "any"
"""Failover profile that means the account with the most quota left."""


class AccountSettings(DetectionSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Extends the detection settings (a msgspec struct can have only one base)."""

    accounts: Annotated[
        tuple[Account, ...],
        Meta(
            description="The accounts that agents may use, each a table `[[accounts]]` with `service`,"
            " `name` and one of `env_file`, `command`, `config_dir`; never with a secret. See the guide to accounts."
        ),
    ] = ()
    account_threshold: Annotated[
        float,
        Meta(description="Percent of its scarcest limit that an account must have left.", ge=0, le=100),
    ] = 10.0
    account_tracker: Annotated[
        str, Meta(description="Program that reports what is left of accounts, if it is installed. Empty: none.")
    ] = "caut"
    failover_profile: Annotated[
        str,
        Meta(
            description="Account with which an agent continues after it used up its limit: a name, or `any` for the"
            " one with the most left. Empty: no agent is ever moved to another account."
        ),
    ] = ""

    def __post_init__(self) -> None:
        refs = [account.ref for account in self.accounts]
        if duplicate := next((ref for ref in refs if refs.count(ref) > 1), None):
            raise ValueError(f"accounts: duplicate account {duplicate}")
        names = {name for account in self.accounts for name in (account.name, account.ref)}
        if self.failover_profile not in ("", ANY_ACCOUNT, *names):
            raise ValueError(f"failover_profile: unknown account {self.failover_profile[:100]!r}")


def find_accounts_problem(tables: object) -> str:
    """Return the first problem in the `[[accounts]]` tables, or an empty string."""
    if not isinstance(tables, list | tuple):
        return "accounts: each account must be a table `[[accounts]]`, with double brackets"
    problems = (
        _find_account_problem(number, table) for number, table in enumerate(tables, 1) if isinstance(table, dict)
    )
    return next(filter(None, problems), "")


def _find_account_problem(number: int, table: Mapping[str, object]) -> str:
    which = f"[[accounts]] number {number}"
    for name in table:
        if name not in Account.__struct_fields__:
            return f"{which}: unknown key {name!r}; {format_suggestion(name, Account.__struct_fields__)}"
    for name in ("service", "name"):
        if name not in table:
            return f"{which}: `{name}` is missing"
    service = table["service"]
    if service not in SERVICES:
        return f"{which}: unknown service {service!r}; {format_suggestion(str(service), SERVICES)}"
    return ""
