"""Find the account that an agent process uses, from its environment. Pure except for resolving links in paths."""

from collections.abc import Mapping, Sequence

from termvisor.accounts.credentials import ACCOUNT_VARIABLE, HOMES_BY_SERVICE, is_account_home
from termvisor.model.agent.account import Account, AccountStatus, Service

ENV_NAMES = (ACCOUNT_VARIABLE, "HOME", *(place.variable for place in HOMES_BY_SERVICE.values()))
"""The environment variables that are needed; no others are read."""


def find_owner(service: Service, env: Mapping[str, str] | None, statuses: Sequence[AccountStatus]) -> Account | None:
    """Return the account of an agent; None if it is not certain. Without ``env`` it must be the service's only one."""
    candidates = [status for status in statuses if status.account.service == service]
    if env is None:
        return candidates[0].account if len(candidates) == 1 else None
    if env.get(ACCOUNT_VARIABLE):
        return next((status.account for status in candidates if status.account.ref == env[ACCOUNT_VARIABLE]), None)
    at_home = [
        status.account for status in candidates if status.account.config_dir and is_account_home(status.account, env)
    ]
    if at_home or env.get(HOMES_BY_SERVICE[service].variable):
        return at_home[0] if len(at_home) == 1 else None
    in_default_folder = [status for status in candidates if not status.account.config_dir]
    in_use = [status for status in in_default_folder if status.is_in_use] or in_default_folder
    return in_use[0].account if len(in_use) == 1 else None
