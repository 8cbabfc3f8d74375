"""The account that an agent process uses."""

import pytest

from termvisor.accounts.attribution import find_owner
from termvisor.model.agent.account import Account, AccountStatus

HOME = "/home/me"
MINE = Account(service="openai", name="mine")
SECOND = Account(service="openai", name="second", env_file="~/second.env")
APART = Account(service="openai", name="apart", config_dir="~/.codex-apart")
USUAL = Account(service="openai", name="usual", config_dir="~/.codex")
OTHER = Account(service="google", name="mine")


def name(env: dict | None, *accounts: Account, used: Account | None = None) -> str:
    found = find_owner("openai", env, [AccountStatus(account=one, is_in_use=one == used) for one in accounts])
    return found.name if found else ""


@pytest.mark.parametrize(
    ("env", "accounts", "used", "whose"),
    [
        ({"HOME": HOME}, (MINE, OTHER), None, "mine"),
        ({"HOME": HOME}, (MINE, SECOND), None, ""),
        ({"HOME": HOME}, (MINE, SECOND), SECOND, "second"),
        ({"HOME": HOME, "VISOR_ACCOUNT": "openai/mine"}, (MINE, SECOND), SECOND, "mine"),
        ({"HOME": HOME, "VISOR_ACCOUNT": "openai/gone"}, (MINE,), MINE, ""),
        ({"HOME": HOME, "CODEX_HOME": f"{HOME}/.codex-apart"}, (MINE, APART), MINE, "apart"),
        ({"HOME": HOME, "CODEX_HOME": f"{HOME}/.codex-else"}, (MINE, APART), MINE, ""),
        ({"HOME": HOME}, (USUAL, APART), APART, "usual"),
        ({"HOME": HOME}, (MINE, APART), None, "mine"),
        (None, (MINE, OTHER), None, "mine"),
        (None, (MINE, SECOND), SECOND, ""),
        ({"HOME": HOME}, (), None, ""),
    ],
)
def test_it_is_the_account_that_the_agent_certainly_works_under(env, accounts, used, whose):
    assert name(env, *accounts, used=used) == whose
