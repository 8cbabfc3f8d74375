"""A recording of one agent: moments in order, each with its screen and the records since the previous moment."""

import os
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.errors import BadRequest
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.agent_view import RecordingKind
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


class RecordedScene(Struct, frozen=True, kw_only=True):
    agent: str
    version: str = ""
    run: str = ""
    number: int = 0
    name: str = ""
    runtime: AgentProcess
    records: tuple[SourceRecord, ...] = ()
    screen: Screen


_SCENE_DECODER = msgspec.json.Decoder(RecordedScene)


def read_scenes(path: str, data: bytes) -> AgentRecording:
    """Read a scene and the earlier scenes of its run in the same folder."""
    try:
        last = _SCENE_DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise build_recording_error(path, str(error)) from error
    run = sorted([*_find_earlier_scenes(path, last), last], key=lambda one: one.number)
    return AgentRecording(
        kind="scenes",
        agent=last.agent,
        version=last.version,
        runtime=last.runtime,
        moments=tuple(_build_moment(one) for one in run),
    )


def _find_earlier_scenes(path: str, last: RecordedScene) -> Iterator[RecordedScene]:
    folder = os.path.dirname(path) or "."
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json") and not os.path.samefile(other := os.path.join(folder, name), path):
            scene = _read_scene(other)
            if scene is not None and _is_before(scene, last):
                yield scene


def _read_scene(path: str) -> RecordedScene | None:
    """Return None for a file that is not a scene."""
    try:
        with open(path, "rb") as file:
            return _SCENE_DECODER.decode(file.read())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        # The folder may contain other JSON files.
        return None


def _is_before(scene: RecordedScene, last: RecordedScene) -> bool:
    is_same_run = (scene.agent, scene.run, scene.runtime.id) == (last.agent, last.run, last.runtime.id)
    return bool(last.run) and is_same_run and scene.number < last.number


def _build_moment(scene: RecordedScene) -> RecordedMoment:
    last_record_at = max((record.at for record in scene.records), default=scene.runtime.started_at)
    return RecordedMoment(at=max(scene.screen.at, last_record_at), records=scene.records, screen=scene.screen)
