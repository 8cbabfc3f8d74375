"""Every World there is keeps the protocol: the same methods, awaited or not, with the same parameters."""

import inspect

import pytest

from termvisor.daemon.world import LiveFleet, LiveHistory, LiveNews, LiveWorld
from termvisor.ops.local import LocalWorld
from termvisor.ops.world import Fleet, History, News, World
from termvisor.testing.world import MemoryFleet, MemoryHistory, MemoryNews, MemoryWorld


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
        (World, MemoryWorld),
        (World, LiveWorld),
        (World, LocalWorld),
    ],
)
def test_a_world_keeps_the_protocol(protocol: type, made: type) -> None:
    promised, kept = _shape(protocol), _shape(made)
    assert promised
    assert {name: kept.get(name) for name in promised} == promised
