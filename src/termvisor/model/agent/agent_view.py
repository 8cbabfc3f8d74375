"""Agents as clients show them: one, a summary of many, one in a recording, and the supported agent programs."""

from typing import Literal

from msgspec import Struct

from termvisor.model.agent.agent_process import AgentProcess, AgentSignature
from termvisor.model.agent.attention import NeedKind
from termvisor.model.agent.evidence import StateExplanation
from termvisor.model.agent.session import AgentSession
from termvisor.model.agent.signal import Signal
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


RecordingKind = Literal["scenes", "cast"]


class ReplayResult(Struct, frozen=True, kw_only=True):
    """The result of replaying a recording of an agent up to one instant, without a daemon."""

    kind: RecordingKind
    """`scenes`: records and screens. `cast`: screens only."""
    version: str = ""
    """The program version of the agent, if recorded."""
    began_at: int
    ended_at: int
    at: int
    """The instant that is explained."""
    moments: int
    """How many moments of the recording are before it."""
    runtime: AgentProcess
    view: AgentView
    explanation: StateExplanation
    signals: tuple[Signal, ...] = ()
    """The signals named in the explanation, redacted."""
