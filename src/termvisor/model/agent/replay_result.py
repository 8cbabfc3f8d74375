"""The result of replaying a recording of an agent up to one instant, without a daemon."""

from typing import Literal

from msgspec import Struct

from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.agent_view import AgentView
from termvisor.model.agent.explanation import StateExplanation
from termvisor.model.agent.signal import Signal

RecordingKind = Literal["scenes", "cast"]


class ReplayResult(Struct, frozen=True, kw_only=True):
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
