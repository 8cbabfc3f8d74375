"""What operations see of agents: what each is doing, why that is believed, and what it used."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Protocol

from termvisor.bus import Subscription
from termvisor.model.agent.drift import AgentDrift
from termvisor.model.agent.explanation import StateExplanation
from termvisor.model.agent.identification import AgentSignature
from termvisor.model.agent.session import AgentKind, AgentSession, AgentView, SourceHealth
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import StateChange
from termvisor.model.agent.tool_finished import ToolFinished
from termvisor.model.ids import PaneId, SignalId


class AgentEvidenceService(Protocol):
    """What was heard of agents, and where."""

    async def find_signals(self, signal_ids: Iterable[SignalId]) -> dict[SignalId, Signal]:
        """Stored signals, redacted; those that aged away are left out."""

    def subscribe_tool_ends(self) -> AbstractContextManager[Subscription[ToolFinished]]:
        """Every use of a tool that came to its end, where agents tell it."""

    async def list_sessions(
        self, *, pane: PaneId | None = None, agent: str | None = None, since: int | None = None, limit: int = 20
    ) -> list[AgentSession]:
        """The newest ones, oldest first."""

    async def list_sources(self) -> list[SourceHealth]: ...


class AgentService(AgentEvidenceService, Protocol):
    async def list_views(self, pane: PaneId | None = None) -> dict[PaneId, AgentView]:
        """The agents that live, by pane, as they are at this instant; or the one of a pane alone."""

    async def list_signatures(self) -> dict[PaneId, AgentSignature]:
        """Why each pane that exists is taken for an agent's, or is not."""

    async def explain_state(self, pane: PaneId) -> StateExplanation | None:
        """Why the agent of a pane is said to be in its state; None where there is none."""

    async def list_kinds(self) -> list[AgentKind]:
        """Every agent program that is known, also those that are switched off."""

    async def list_drifts(self) -> list[AgentDrift]:
        """Of those that live: what is no longer as we know it."""

    def subscribe_state_changes(self) -> AbstractContextManager[Subscription[StateChange]]:
        """Every change of a state, after it is stored."""
