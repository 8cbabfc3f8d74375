"""The settings that say which accounts agents may work under. Each stands in a table `[[accounts]]` of its own."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from termvisor.model.agent.account import SERVICES, Account
from termvisor.model.did_you_mean import format_suggestion
from termvisor.model.settings.events import EventSettings

ANY_ACCOUNT = "any"
"""As a failover profile: whichever account is the best."""


class AccountSettings(EventSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A struct has one line of ancestors: those of events come before."""

    accounts: Annotated[
        tuple[Account, ...],
        Meta(
            description="The accounts that agents may work under, each a table `[[accounts]]` with `service`,"
            " `name` and one of `env_file`, `command`, `config_dir`; never with a secret. See the guide to accounts."
        ),
    ] = ()
    account_threshold: Annotated[
        float,
        Meta(description="Percent of its scarcest limit that an account must have left.", ge=0, le=100),
    ] = 10.0
    account_tracker: Annotated[
        str, Meta(description="The program that is asked what is left of accounts, if it is installed. Empty: none.")
    ] = "caut"
    failover_profile: Annotated[
        str,
        Meta(
            description="The account under which an agent goes on that has used up its limit: a name, or `any` for the"
            " one with the most left. Empty: no agent is ever moved to another account."
        ),
    ] = ""

    def __post_init__(self) -> None:
        refs = [one.ref for one in self.accounts]
        if doubled := next((ref for ref in refs if refs.count(ref) > 1), None):
            raise ValueError(f"accounts: there are two of the name {doubled}")
        named = {name for one in self.accounts for name in (one.name, one.ref)}
        if self.failover_profile not in ("", ANY_ACCOUNT, *named):
            raise ValueError(f"failover_profile: there is no account {self.failover_profile[:100]!r}")


def find_accounts_problem(tables: object) -> str:
    """What is wrong with the tables `[[accounts]]`, which of them and with which word; empty where nothing is."""
    if not isinstance(tables, list | tuple):
        return "accounts: each stands in a table `[[accounts]]` of its own, with two brackets"
    told = (_find_account_problem(number, table) for number, table in enumerate(tables, 1) if isinstance(table, dict))
    return next(filter(None, told), "")


def _find_account_problem(number: int, table: Mapping[str, object]) -> str:
    which = f"[[accounts]] number {number}"
    for name in table:
        if name not in Account.__struct_fields__:
            return f"{which}: there is no {name!r}; {format_suggestion(name, Account.__struct_fields__)}"
    for name in ("service", "name"):
        if name not in table:
            return f"{which}: `{name}` is missing"
    service = table["service"]
    if service not in SERVICES:
        return f"{which}: there is no service {service!r}; {format_suggestion(str(service), SERVICES)}"
    return ""
