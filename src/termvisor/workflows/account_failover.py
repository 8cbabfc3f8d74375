"""Select another account for an agent that has reached its usage limit.

``selected = await context.select_account()`` is one journaled step. To continue, start the session's resume command
with ``context.spawn(seen.resume, account=selected.account)``, or type ``selected.prefix`` and ``seen.resume``, quoted,
at the shell prompt. The account is a reference: the new process itself looks up its credentials, so they are in no
argv, journal, audit log or environment of ours.
"""

from typing import Protocol

from msgspec import Struct

from termvisor.model.ids import PaneId


class SelectAccountCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="select_account"):
    """Select the account under which the agent in the run's pane may continue, by fresh quota data."""

    service: str = ""
    """Empty for the service of the run's agent."""


class AccountSelection(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The account to continue under; empty if there is none, and ``why`` says why.

    It is always empty while the setting `failover_profile` is.
    """

    account: str = ""
    """A reference such as ``openai/work``."""
    why: str = ""
    remaining: float | None = None
    """Percent left of its scarcest limit; None if unknown."""
    prefix: tuple[str, ...] = ()
    """The argv prefix that starts a command under this account."""
    shares_sessions: bool = False
    """The account can resume sessions of the agent's usual account."""


class AccountSelector(Protocol):
    async def select(self, pane: PaneId | None, agent: str, service: str) -> AccountSelection:
        """Select an account by fresh data; an empty selection says why there is none."""


class NoAccountSelector:
    """Selects none: no accounts are configured."""

    async def select(self, pane: PaneId | None, agent: str, service: str) -> AccountSelection:
        return AccountSelection(why="no accounts are configured")
