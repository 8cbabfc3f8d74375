"""A Replayed is what a recording of an agent says at one instant, read again without the agent and without a daemon."""

from typing import Literal

from msgspec import Struct

from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.explanation import StateExplanation
from termvisor.model.agent.session import AgentView
from termvisor.model.agent.signal import Signal

RecordingKind = Literal["scenes", "cast"]


class ReplayResult(Struct, frozen=True, kw_only=True):
    kind: RecordingKind
    """`scenes`: all that the agent left behind, and screens. `cast`: screens alone."""
    version: str = ""
    """The agent's own, where the recording tells it."""
    began_at: int
    ended_at: int
    at: int
    """The instant that is explained."""
    moments: int
    """How many moments of the recording lie before it."""
    runtime: AgentProcess
    view: AgentView
    explanation: StateExplanation
    signals: tuple[Signal, ...] = ()
    """Those that the explanation names, redacted."""
