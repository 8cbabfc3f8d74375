"""`python -m termvisor.agents.recordings <file> <agent> <at>`: print a `ReplayResult` as JSON, or an error line.

Empty arguments mean not given. Runs in its own process so that the caller does not have to load all adapters.
"""

import sys

import msgspec

from termvisor.agents.adapters import loader
from termvisor.agents.recordings import asciicast, scene_files
from termvisor.agents.recordings.recording import AgentRecording, build_recording_error
from termvisor.agents.recordings.replay import replay_recording
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.tracking_config import build_tracking_config
from termvisor.clock import NS, parse_duration, parse_timestamp
from termvisor.errors import BadRequest, VisorError
from termvisor.model.agent.replay_result import ReplayResult
from termvisor.protocol.error_line import format_error
from termvisor.settings import load_settings, resolve_paths

_MAX_RECORDING_BYTES = 256 << 20


def explain_recording(path: str, agent: str, at: str) -> ReplayResult:
    recording = open_recording(path)
    if agent:
        recording = msgspec.structs.replace(recording, agent=agent)
    settings = load_settings(resolve_paths())
    registry = AdapterRegistry(lambda: loader.load_adapters((), settings.agent_programs))
    return replay_recording(
        recording, resolve_instant(recording, at), registry, build_tracking_config(registry, settings)
    )


def open_recording(path: str) -> AgentRecording:
    try:
        with open(path, "rb") as file:
            data = file.read(_MAX_RECORDING_BYTES + 1)
    except OSError as error:
        raise BadRequest(f"cannot read {path}: {error.strerror}", hint="Check the path and its permissions.") from error
    if not data.strip():
        raise build_recording_error(path, "it is empty")
    if len(data) > _MAX_RECORDING_BYTES:
        raise build_recording_error(path, f"it is larger than {_MAX_RECORDING_BYTES >> 20} MB")
    first = data.partition(b"\n")[0]
    return (
        asciicast.read_cast(path, data)
        if first.startswith(b"{") and b'"version"' in first
        else scene_files.read_scenes(path, data)
    )


def resolve_instant(recording: AgentRecording, at: str) -> int:
    """Parse ``at`` as an offset from the start or a timestamp; empty means the end of the recording."""
    if not at:
        return recording.ended_at
    try:
        return recording.began_at + int(parse_duration(at) * NS)
    except BadRequest:
        return parse_timestamp(at, recording.ended_at)


def main() -> None:
    try:
        result = explain_recording(*sys.argv[1:4])
    except VisorError as error:
        sys.stderr.write(format_error(error))
        sys.exit(error.exit_status)
    sys.stdout.buffer.write(msgspec.json.encode(result))


if __name__ == "__main__":
    main()
