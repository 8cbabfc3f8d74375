"""Recordings as the live tests write them: a file a moment, the moments of one run side by side in a folder.

A moment holds only what was heard since the one before, so the earlier ones of its run are read with it.
"""

import os
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.recordings.recording import AgentRecording, RecordedMoment, build_recording_error
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.terminal.screen import Screen


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
    """The moment of this file and those of its run before it, as far as they lie beside it."""
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
        if name.endswith(".json") and not os.path.samefile(beside := os.path.join(folder, name), path):
            scene = _read_scene(beside)
            if scene is not None and _is_before(scene, last):
                yield scene


def _read_scene(path: str) -> RecordedScene | None:
    """None for a file that is something else."""
    try:
        with open(path, "rb") as file:
            return _SCENE_DECODER.decode(file.read())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _is_before(scene: RecordedScene, last: RecordedScene) -> bool:
    same = (scene.agent, scene.run, scene.runtime.id) == (last.agent, last.run, last.runtime.id)
    return bool(last.run) and same and scene.number < last.number


def _build_moment(scene: RecordedScene) -> RecordedMoment:
    heard = max((one.at for one in scene.records), default=scene.runtime.started_at)
    return RecordedMoment(at=max(scene.screen.at, heard), records=scene.records, screen=scene.screen)
