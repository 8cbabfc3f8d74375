"""Every World there is keeps the protocol: the same methods, awaited or not, with the same parameters."""

import inspect

import pytest

from termvisor.daemon.services.maintenance import LiveUpkeep
from termvisor.daemon.services.raw_recording import LiveRecording
from termvisor.daemon.services.services import LiveFleet, LiveHistory, LiveNews
from termvisor.ops.api.local_services import LocalWorld
from termvisor.ops.api.services import Fleet, History, News, Recording, Upkeep, World
from termvisor.testing.upkeep import MemoryUpkeep
from termvisor.testing.world import MemoryFleet, MemoryHistory, MemoryNews, MemoryRecording, MemoryWorld


def _parts(cls: type) -> set[str]:
    return {name for name, member in vars(cls).items() if isinstance(member, property)}


def _shape(cls: type) -> dict[str, tuple[bool, tuple[str, ...]]]:
    return {
        name: (inspect.iscoroutinefunction(member), tuple(inspect.signature(member).parameters))
        for name, member in vars(cls).items()
        if inspect.isfunction(member) and not name.startswith("_")
    }


@pytest.mark.parametrize(
    ("protocol", "made"),
    [
        (Fleet, MemoryFleet),
        (Fleet, LiveFleet),
        (History, MemoryHistory),
        (History, LiveHistory),
        (News, MemoryNews),
        (News, LiveNews),
        (Upkeep, MemoryUpkeep),
        (Upkeep, LiveUpkeep),
        (Recording, MemoryRecording),
        (Recording, LiveRecording),
    ],
)
def test_a_world_keeps_the_protocol(protocol: type, made: type) -> None:
    promised, kept = _shape(protocol), _shape(made)
    assert promised
    assert {name: kept.get(name) for name in promised} == promised


@pytest.mark.parametrize("world", [MemoryWorld(), LocalWorld()])
def test_a_world_has_every_part(world: object) -> None:
    assert _parts(World) <= {name for name in dir(world) if not name.startswith("_")}
