"""The call by which a workflow learns under which account an agent may go on that has used up its limit.

``selected = await context.select_account()`` is one journaled step. To go on, start the resume command of the
conversation with ``context.spawn(seen.resume, account=selected.account)``, or type the words of ``selected.prefix`` and
those of ``seen.resume``, quoted, at the shell's prompt. The account is a reference: its credentials are looked up by
the new process itself, so they are in no argv, no journal, no audit and no environment of ours.
"""

from typing import Protocol

from msgspec import Struct

from termvisor.model.ids import PaneId


class SelectAccountCall(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="select_account"):
    """Which account the agent in the run's pane may go on under, by fresh data."""

    service: str = ""
    """Empty: that of the run's agent."""


class AccountSelection(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The account to go on under. An empty ``account`` means none, and ``why`` says why: then nobody is moved.

    It is always empty while the setting `failover_profile` is.
    """

    account: str = ""
    """A reference such as ``openai/work``."""
    why: str = ""
    remaining: float | None = None
    """Percent that is left of its scarcest limit; None where nobody knows."""
    prefix: tuple[str, ...] = ()
    """The words before a command that start it under this account."""
    shares_sessions: bool = False
    """Whether conversations of the agent's usual account are there too: without that, a resume finds nothing."""


class AccountSelector(Protocol):
    async def select(self, pane: PaneId | None, agent: str, service: str) -> AccountSelection:
        """With fresh data. That no account fits, or that none may be taken, is an answer too."""


class NoAccountSelector:
    """Where there are no accounts."""

    async def select(self, pane: PaneId | None, agent: str, service: str) -> AccountSelection:
        return AccountSelection(why="there are no accounts")
