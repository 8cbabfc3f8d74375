"""Interfaces of the agent services that operations use: states, evidence, sessions."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Protocol

from termvisor.bus import Subscription
from termvisor.model.agent.agent_view import AgentKind, AgentView
from termvisor.model.agent.drift import AgentDrift
from termvisor.model.agent.evidence_source import SourceHealth
from termvisor.model.agent.explanation import StateExplanation
from termvisor.model.agent.identification import AgentSignature
from termvisor.model.agent.session import AgentSession
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import StateChange
from termvisor.model.agent.tool_finished import ToolFinished
from termvisor.model.ids import PaneId, SignalId


class AgentEvidenceService(Protocol):
    """Read-only access to signals, sessions and evidence sources of agents."""

    async def find_signals(self, signal_ids: Iterable[SignalId]) -> dict[SignalId, Signal]:
        """Return the stored signals, redacted; those deleted by retention are missing."""

    def subscribe_tool_ends(self) -> AbstractContextManager[Subscription[ToolFinished]]:
        """Subscribe to finished tool calls, as far as agents report them."""

    async def list_sessions(
        self, *, pane: PaneId | None = None, agent: str | None = None, since: int | None = None, limit: int = 20
    ) -> list[AgentSession]:
        """Return the newest sessions, oldest first."""

    async def list_sources(self) -> list[SourceHealth]: ...


class AgentService(AgentEvidenceService, Protocol):
    async def list_views(self, pane: PaneId | None = None) -> dict[PaneId, AgentView]:
        """Return the running agents by pane, or only that of one pane."""

    async def list_signatures(self) -> dict[PaneId, AgentSignature]:
        """Return, for each existing pane, why it was or was not identified as an agent's."""

    async def explain_state(self, pane: PaneId) -> StateExplanation | None:
        """Explain the state of the agent in a pane; None if there is no agent."""

    async def list_kinds(self) -> list[AgentKind]:
        """Return every known agent program, including disabled ones."""

    async def list_drifts(self) -> list[AgentDrift]:
        """Return how running agents deviate from what their adapters expect."""

    def subscribe_state_changes(self) -> AbstractContextManager[Subscription[StateChange]]:
        """Subscribe to state changes; published after they are stored."""
