"""A recording of one agent: moments in order, each with the records since the one before and the screen."""

from msgspec import Struct

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.errors import BadRequest
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.replay_result import RecordingKind
from termvisor.model.terminal.screen import Screen

RECORDING_HINT = "Pass a scene file of the live tests (JSON) or a cast written by `visor export --cast`."


class RecordedMoment(Struct, frozen=True, kw_only=True):
    at: int
    records: tuple[SourceRecord, ...] = ()
    """The records since the previous moment."""
    screen: Screen | None = None


class AgentRecording(Struct, frozen=True, kw_only=True):
    kind: RecordingKind
    agent: str
    """Empty if the recording does not name it."""
    version: str = ""
    runtime: AgentProcess
    moments: tuple[RecordedMoment, ...]
    gone_at: int | None = None
    """When the agent exited, if the recording contains that."""

    @property
    def began_at(self) -> int:
        return min(self.runtime.started_at, *(one.at for one in self.moments))

    @property
    def ended_at(self) -> int:
        return max(one.at for one in self.moments)


def build_recording_error(path: str, reason: str) -> BadRequest:
    return BadRequest(f"{path} is not a recording of an agent: {reason}", hint=RECORDING_HINT)
