"""Open a recording of any format and explain the agent's state at an instant of it, for `visor explain --file`."""

import msgspec

from termvisor.agents.adapters import loader
from termvisor.agents.adapters.description_files import DESCRIPTIONS, get_user_folder
from termvisor.agents.recordings import asciicast
from termvisor.agents.recordings.recording import AgentRecording, build_recording_error, read_scenes
from termvisor.agents.recordings.replay import replay_recording
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.transition import TrackingConfig, build_tracking_config
from termvisor.clock import NS, parse_duration, parse_timestamp
from termvisor.errors import BadRequest
from termvisor.model.agent.agent_view import ReplayResult
from termvisor.settings import load_settings, resolve_paths

_MAX_RECORDING_BYTES = 256 << 20


def explain_recording(path: str, agent: str, at: str) -> ReplayResult:
    """Return the state and its explanation; an empty argument means not given. Runs in a worker process."""
    recording = open_recording(path)
    if agent:
        recording = msgspec.structs.replace(recording, agent=agent)
    return replay_recording(recording, resolve_instant(recording, at), *build_replay_context())


def build_replay_context() -> tuple[AdapterRegistry, TrackingConfig]:
    """Return the adapters and thresholds that a daemon with the user's settings would use."""
    paths = resolve_paths()
    settings = load_settings(paths)
    DESCRIPTIONS.use_folder(get_user_folder(paths.config_dir))
    registry = AdapterRegistry(lambda: loader.load_adapters((), settings.agent_programs.values()))
    return registry, build_tracking_config(registry, settings)


def open_recording(path: str) -> AgentRecording:
    data = read_recording_bytes(path)
    first = data.partition(b"\n")[0]
    return (
        asciicast.read_cast(path, data) if first.startswith(b"{") and b'"version"' in first else read_scenes(path, data)
    )


def read_recording_bytes(path: str) -> bytes:
    """Read a file that is neither empty nor too large. Raises BadRequest."""
    try:
        with open(path, "rb") as file:
            data = file.read(_MAX_RECORDING_BYTES + 1)
    except OSError as error:
        raise BadRequest(f"cannot read {path}: {error.strerror}", hint="Check the path and its permissions.") from error
    if not data.strip():
        raise build_recording_error(path, "it is empty")
    if len(data) > _MAX_RECORDING_BYTES:
        raise build_recording_error(path, f"it is larger than {_MAX_RECORDING_BYTES >> 20} MB")
    return data


def resolve_instant(recording: AgentRecording, at: str) -> int:
    """Parse ``at`` as an offset from the start or a timestamp; empty means the end of the recording."""
    if not at:
        return recording.ended_at
    try:
        return recording.began_at + int(parse_duration(at) * NS)
    except BadRequest:
        # Not a duration, so it must be a point in time; that error is the one to show.
        return parse_timestamp(at, recording.ended_at)
