"""A caller sees the same world as everybody, and a door of its own that is made when it is used."""

from termvisor.daemon.services.caller_view import CallerServices
from termvisor.testing.fake_services import FakeServices


def test_everything_is_there_and_the_door_is_made_once():
    world, made = FakeServices(), []
    called = CallerServices(world, lambda: made.append(1) or world.gate)
    assert called.panes is world.panes and called.history is world.history and called.updates is world.updates
    assert called.clock is world.clock and called.maintenance is world.maintenance
    assert called.configuration == world.configuration
    assert made == []
    assert called.gate is called.gate is world.gate
    assert made == [1]
