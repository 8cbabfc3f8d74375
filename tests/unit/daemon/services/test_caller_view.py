"""A caller sees the same world as everybody, and a door of its own that is made when it is used."""

from termvisor.daemon.services.caller_view import CalledWorld
from termvisor.testing.world import MemoryWorld


def test_everything_is_there_and_the_door_is_made_once():
    world, made = MemoryWorld(), []
    called = CalledWorld(world, lambda: made.append(1) or world.door)
    assert called.fleet is world.fleet and called.history is world.history and called.news is world.news
    assert called.clock is world.clock and called.upkeep is world.upkeep
    assert called.configuration == world.configuration
    assert made == []
    assert called.door is called.door is world.door
    assert made == [1]
