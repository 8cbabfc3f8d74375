"""A Recording is what was kept of one agent: moments in order, each with what was heard up to it and its screen."""

from msgspec import Struct

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.errors import BadRequest
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.replay_result import RecordingKind
from termvisor.model.terminal.screen import Screen

RECORDING_HINT = "Give a moment that the live tests recorded (JSON), or a film of `visor export --cast`."


class RecordedMoment(Struct, frozen=True, kw_only=True):
    at: int
    records: tuple[SourceRecord, ...] = ()
    """What was heard since the moment before."""
    screen: Screen | None = None


class AgentRecording(Struct, frozen=True, kw_only=True):
    kind: RecordingKind
    agent: str
    """Empty where the recording does not say."""
    version: str = ""
    runtime: AgentProcess
    moments: tuple[RecordedMoment, ...]
    gone_at: int | None = None
    """When the agent ended, where the recording tells it."""

    @property
    def began_at(self) -> int:
        return min(self.runtime.started_at, *(one.at for one in self.moments))

    @property
    def ended_at(self) -> int:
        return max(one.at for one in self.moments)


def build_recording_error(path: str, reason: str) -> BadRequest:
    return BadRequest(f"{path} is no recording of an agent: {reason}", hint=RECORDING_HINT)
