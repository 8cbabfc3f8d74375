"""An agent as clients show it (`AgentView`), and the agent programs that are supported (`AgentKind`)."""

from msgspec import Struct

from termvisor.model.agent.attention import NeedKind
from termvisor.model.agent.identification import AgentSignature
from termvisor.model.agent.session import AgentSession
from termvisor.model.agent.state import AgentState


class AgentView(Struct, frozen=True, kw_only=True):
    """An agent as clients show it."""

    state: AgentState
    version: int
    """The version of the published state, increased with every change."""
    title: str = ""
    need: NeedKind | None = None
    """What it needs from the user; None if nothing."""
    needs_action: bool = False
    session: AgentSession | None = None
    signature: AgentSignature = AgentSignature()
    """Why the pane was identified as this agent's."""


class AgentKind(Struct, frozen=True, kw_only=True):
    """A supported agent program."""

    name: str
    contract_version: tuple[int, int]
    capabilities: tuple[str, ...]
    sources: tuple[str, ...]
    """Its sources, best first."""
    is_enabled: bool
    failures: int = 0
    """How often its adapter raised since the daemon started."""
    recorded: tuple[str, ...] = ()
    """The program versions with recordings in the test suite."""
