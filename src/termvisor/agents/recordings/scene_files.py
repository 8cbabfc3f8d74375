"""Recordings as the live tests write them: a file a moment, the moments of one run side by side in a folder.

A moment holds only what was heard since the one before, so the earlier ones of its run are read with it.
"""

import os
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.recordings.recording import Moment, Recording, no_recording
from termvisor.model.agent.agent_process import Runtime
from termvisor.model.terminal.screen import Screen


class Scene(Struct, frozen=True, kw_only=True):
    agent: str
    version: str = ""
    run: str = ""
    number: int = 0
    name: str = ""
    runtime: Runtime
    records: tuple[Record, ...] = ()
    screen: Screen


_SCENE = msgspec.json.Decoder(Scene)


def read(path: str, data: bytes) -> Recording:
    """The moment of this file and those of its run before it, as far as they lie beside it."""
    try:
        last = _SCENE.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise no_recording(path, str(error)) from error
    run = sorted([*_earlier(path, last), last], key=lambda one: one.number)
    return Recording(
        kind="scenes",
        agent=last.agent,
        version=last.version,
        runtime=last.runtime,
        moments=tuple(_moment(one) for one in run),
    )


def _earlier(path: str, last: Scene) -> Iterator[Scene]:
    folder = os.path.dirname(path) or "."
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json") and not os.path.samefile(beside := os.path.join(folder, name), path):
            scene = _scene(beside)
            if scene is not None and _is_before(scene, last):
                yield scene


def _scene(path: str) -> Scene | None:
    """None for a file that is something else."""
    try:
        with open(path, "rb") as file:
            return _SCENE.decode(file.read())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _is_before(scene: Scene, last: Scene) -> bool:
    same = (scene.agent, scene.run, scene.runtime.id) == (last.agent, last.run, last.runtime.id)
    return bool(last.run) and same and scene.number < last.number


def _moment(scene: Scene) -> Moment:
    heard = max((one.at for one in scene.records), default=scene.runtime.started_at)
    return Moment(at=max(scene.screen.at, heard), records=scene.records, screen=scene.screen)
