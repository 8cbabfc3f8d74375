"""Whose figures an agent tells: the account that it works under, by the environment of its process. Pure but for links
in paths.
"""

from collections.abc import Mapping, Sequence

from termvisor.accounts.credentials import ACCOUNT_VARIABLE, HOMES_BY_SERVICE, is_account_home
from termvisor.model.agent.account import Account, AccountStatus, Service

ENV_NAMES = (ACCOUNT_VARIABLE, "HOME", *(place.variable for place in HOMES_BY_SERVICE.values()))
"""The variables that matter; no other is read."""


def find_owner(service: Service, env: Mapping[str, str] | None, statuses: Sequence[AccountStatus]) -> Account | None:
    """None where it is not certain. Without an environment only the one account that there is can be meant."""
    own = [one for one in statuses if one.account.service == service]
    if env is None:
        return own[0].account if len(own) == 1 else None
    if env.get(ACCOUNT_VARIABLE):
        return next((one.account for one in own if one.account.ref == env[ACCOUNT_VARIABLE]), None)
    at_home = [one.account for one in own if one.account.config_dir and is_account_home(one.account, env)]
    if at_home or env.get(HOMES_BY_SERVICE[service].variable):
        return at_home[0] if len(at_home) == 1 else None
    usual = [one for one in own if not one.account.config_dir]
    used = [one for one in usual if one.is_in_use] or usual
    return used[0].account if len(used) == 1 else None
