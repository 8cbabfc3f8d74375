"""`python -m termvisor.agents.recordings <file> <agent> <at>`: a `Replayed` as JSON on stdout, or a complaint.

Empty words stand for what was not given. A process of its own: whoever asks need not hold all adapters.
"""

import sys

import msgspec

from termvisor import agents
from termvisor.agents.recordings import asciicast, scene_files
from termvisor.agents.recordings.recording import AgentRecording, build_recording_error
from termvisor.agents.recordings.replay import replay_recording
from termvisor.agents.state.thresholds import Thresholds
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.transition import TrackingConfig
from termvisor.clock import NS, parse_duration, parse_timestamp
from termvisor.errors import BadRequest, VisorError
from termvisor.model.agent.replay_result import ReplayResult
from termvisor.protocol.error_line import format_error
from termvisor.settings import Settings, load_settings, resolve_paths

_MAX_RECORDING_BYTES = 256 << 20
"""Bytes of a recording."""


def explain_recording(path: str, agent: str, at: str) -> ReplayResult:
    recording = open_recording(path)
    if agent:
        recording = msgspec.structs.replace(recording, agent=agent)
    settings = load_settings(resolve_paths())
    circle = AdapterRegistry(lambda: agents.load_adapters((), settings.agent_programs))
    return replay_recording(recording, resolve_instant(recording, at), circle, _build_config(circle, settings))


def open_recording(path: str) -> AgentRecording:
    try:
        with open(path, "rb") as file:
            data = file.read(_MAX_RECORDING_BYTES + 1)
    except OSError as error:
        raise BadRequest(f"{path} cannot be read: {error.strerror}", hint="Name a file that you may read.") from error
    if not data.strip():
        raise build_recording_error(path, "it is empty")
    if len(data) > _MAX_RECORDING_BYTES:
        raise build_recording_error(path, f"it has more than {_MAX_RECORDING_BYTES >> 20} MB")
    first = data.partition(b"\n")[0]
    return (
        asciicast.read_cast(path, data)
        if first.startswith(b"{") and b'"version"' in first
        else scene_files.read_scenes(path, data)
    )


def resolve_instant(recording: AgentRecording, at: str) -> int:
    """So long after its beginning, or an instant; without a word its end."""
    if not at:
        return recording.ended_at
    try:
        return recording.began_at + int(parse_duration(at) * NS)
    except BadRequest:
        return parse_timestamp(at, recording.ended_at)


def _build_config(registry: AdapterRegistry, settings: Settings) -> TrackingConfig:
    measure = Thresholds(
        sources=registry.sources,
        completed_for=int(settings.agent_completed_for * NS),
        contradicted_after=int(settings.agent_contradicted_after * NS),
        idle_after=int(settings.agent_idle_after * NS),
    )
    return TrackingConfig(thresholds=measure, build_resume_command=registry.build_resume_command)


def main() -> None:
    try:
        told = explain_recording(*sys.argv[1:4])
    except VisorError as error:
        sys.stderr.write(format_error(error))
        sys.exit(error.exit_status)
    sys.stdout.buffer.write(msgspec.json.encode(told))


if __name__ == "__main__":
    main()
