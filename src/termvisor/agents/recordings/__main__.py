"""`python -m termvisor.agents.recordings <file> <agent> <at>`: a `Replayed` as JSON on stdout, or a complaint.

Empty words stand for what was not given. A process of its own: whoever asks need not hold all adapters.
"""

import sys

import msgspec

from termvisor import agents
from termvisor.agents.recordings import asciicast as cast
from termvisor.agents.recordings import scene_files as scenes
from termvisor.agents.recordings.recording import Recording, no_recording
from termvisor.agents.recordings.replay import replay
from termvisor.agents.state.thresholds import Measure
from termvisor.agents.tracking.adapter_registry import Circle
from termvisor.agents.tracking.transition import Terms
from termvisor.clock import NS, parse_duration, parse_when
from termvisor.errors import BadRequest, VisorError
from termvisor.model.agent.replay_result import Replayed
from termvisor.protocol.error_line import said
from termvisor.settings import Settings, load, places

_LARGEST = 256 << 20
"""Bytes of a recording."""


def explained(path: str, agent: str, at: str) -> Replayed:
    recording = opened(path)
    if agent:
        recording = msgspec.structs.replace(recording, agent=agent)
    settings = load(places())
    circle = Circle(lambda: agents.load((), settings.agent_programs))
    return replay(recording, moment(recording, at), circle, _terms(circle, settings))


def opened(path: str) -> Recording:
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise BadRequest(f"{path} cannot be read: {error.strerror}", hint="Name a file that you may read.") from error
    if not data.strip():
        raise no_recording(path, "it is empty")
    if len(data) > _LARGEST:
        raise no_recording(path, f"it has more than {_LARGEST >> 20} MB")
    first = data.partition(b"\n")[0]
    return cast.read(path, data) if first.startswith(b"{") and b'"version"' in first else scenes.read(path, data)


def moment(recording: Recording, at: str) -> int:
    """So long after its beginning, or an instant; without a word its end."""
    if not at:
        return recording.ended_at
    try:
        return recording.began_at + int(parse_duration(at) * NS)
    except BadRequest:
        return parse_when(at, recording.ended_at)


def _terms(circle: Circle, settings: Settings) -> Terms:
    measure = Measure(
        sources=circle.sources,
        completed_for=int(settings.agent_completed_for * NS),
        contradicted_after=int(settings.agent_contradicted_after * NS),
        idle_after=int(settings.agent_idle_after * NS),
    )
    return Terms(measure=measure, resume=circle.resume)


def main() -> None:
    try:
        told = explained(*sys.argv[1:4])
    except VisorError as error:
        sys.stderr.write(said(error))
        sys.exit(error.exit_status)
    sys.stdout.buffer.write(msgspec.json.encode(told))


if __name__ == "__main__":
    main()
