"""What operations see of agents: what each is doing, why that is believed, and what it used."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Protocol

from termvisor.bus import Subscription
from termvisor.model.agent.drift import Drift
from termvisor.model.agent.explanation import Explanation
from termvisor.model.agent.identification import Signature
from termvisor.model.agent.session import AgentKind, AgentSession, AgentView, SourceHealth
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import StateChange
from termvisor.model.agent.tool_finished import ToolEnd
from termvisor.model.ids import PaneId, SignalId


class Heard(Protocol):
    """What was heard of agents, and where."""

    async def evidence(self, signals: Iterable[SignalId]) -> dict[SignalId, Signal]:
        """Stored signals, redacted; those that aged away are left out."""

    def tool_ends(self) -> AbstractContextManager[Subscription[ToolEnd]]:
        """Every use of a tool that came to its end, where agents tell it."""

    async def sessions(
        self, *, pane: PaneId | None = None, agent: str | None = None, since: int | None = None, limit: int = 20
    ) -> list[AgentSession]:
        """The newest ones, oldest first."""

    async def sources(self) -> list[SourceHealth]: ...


class Agents(Heard, Protocol):
    async def views(self, pane: PaneId | None = None) -> dict[PaneId, AgentView]:
        """The agents that live, by pane, as they are at this instant; or the one of a pane alone."""

    async def signatures(self) -> dict[PaneId, Signature]:
        """Why each pane that exists is taken for an agent's, or is not."""

    async def explain(self, pane: PaneId) -> Explanation | None:
        """Why the agent of a pane is said to be in its state; None where there is none."""

    async def kinds(self) -> list[AgentKind]:
        """Every agent program that is known, also those that are switched off."""

    async def drifts(self) -> list[Drift]:
        """Of those that live: what is no longer as we know it."""

    def news(self) -> AbstractContextManager[Subscription[StateChange]]:
        """Every change of a state, after it is stored."""
