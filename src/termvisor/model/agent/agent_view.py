"""Agents as clients show them: a single agent, a summary, a replayed recording, and the supported programs."""

from typing import Literal

from msgspec import Struct

from termvisor.model.agent.agent_process import AgentProcess, AgentSignature
from termvisor.model.agent.attention import NeedKind
from termvisor.model.agent.evidence import StateExplanation
from termvisor.model.agent.program_version import ProgramVersion
from termvisor.model.agent.session import AgentSession
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentState


class AgentView(Struct, frozen=True, kw_only=True):
    """An agent as clients show it."""

    state: AgentState
    version: int
    """The version of the published state, increased with every change."""
    changed_at: int = 0
    """When the value of the published state changed last; 0 if unknown."""
    title: str = ""
    need: NeedKind | None = None
    """What the agent needs from the user; None if nothing."""
    needs_action: bool = False
    session: AgentSession | None = None
    signature: AgentSignature = AgentSignature()
    """Why the pane was identified as running this agent."""
    program: ProgramVersion = ProgramVersion()

    @property
    def began_at(self) -> int:
        """Return when the agent came into its state; 0 if unknown.

        The evidence may be older than the published value, and newer evidence may confirm a value without changing it.
        """
        return min((at for at in (self.changed_at, self.state.since) if at), default=0)


class AgentKind(Struct, frozen=True, kw_only=True):
    """A supported agent program."""

    name: str
    contract_version: tuple[int, int]
    capabilities: tuple[str, ...]
    sources: tuple[str, ...]
    """Its evidence sources, best first."""
    is_enabled: bool
    failures: int = 0
    """How often its adapter has raised since the daemon started."""
    recorded: tuple[str, ...] = ()
    """The program versions whose states were checked with the real program."""
    start: tuple[str, ...] = ()
    """The command that starts a conversation; empty if it is not described."""
    is_described: bool = False
    """It is described by a file, which a user's file of the same name replaces."""


class PaneProgram(Struct, frozen=True, kw_only=True):
    """A program in a pane; ``script`` is the file that it runs if it is a runtime such as node, in ``package``."""

    name: str
    script: str = ""
    package: str = ""


class DescriptionCheck(Struct, frozen=True, kw_only=True):
    """The result of checking a file that describes an agent. ``problem`` is empty if the file can be used."""

    name: str
    problem: str = ""
    examples: tuple[str, ...] = ()
    """The states of its examples."""


RecordingKind = Literal["scenes", "cast"]


class ReplayResult(Struct, frozen=True, kw_only=True):
    """The result of replaying an agent's recording up to one point in time, without a daemon."""

    kind: RecordingKind
    """`scenes`: records and screens. `cast`: screens only."""
    version: str = ""
    """The program version of the agent, if recorded."""
    began_at: int
    ended_at: int
    at: int
    """The explained point in time."""
    moments: int
    """The number of recorded moments before it."""
    runtime: AgentProcess
    view: AgentView
    explanation: StateExplanation
    signals: tuple[Signal, ...] = ()
    """The signals named in the explanation, redacted."""
