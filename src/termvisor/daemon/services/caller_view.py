"""The world as one caller may use it: everything to look at, and a door that knows who they are.

The door is made when somebody stands before it: most calls only look, and need nothing of what is behind it.
"""

from collections.abc import Callable
from functools import cached_property

from termvisor.clock import Clock
from termvisor.ops.api.accounts_service import Accounts
from termvisor.ops.api.agents_service import Agents
from termvisor.ops.api.detections_service import Detections
from termvisor.ops.api.gate_service import Door
from termvisor.ops.api.services import Fleet, History, News, Upkeep, World
from termvisor.ops.api.workflows_service import Runs
from termvisor.settings import Places, Settings


class CalledWorld:
    def __init__(self, world: World, make_door: Callable[[], Door]):
        self._world, self._make_door = world, make_door

    @cached_property
    def door(self) -> Door:
        return self._make_door()

    @property
    def fleet(self) -> Fleet:
        return self._world.fleet

    @property
    def history(self) -> History:
        return self._world.history

    @property
    def detections(self) -> Detections:
        return self._world.detections

    @property
    def news(self) -> News:
        return self._world.news

    @property
    def clock(self) -> Clock:
        return self._world.clock

    @property
    def configuration(self) -> tuple[Places, Settings]:
        return self._world.configuration

    @property
    def runs(self) -> Runs:
        return self._world.runs

    @property
    def accounts(self) -> Accounts:
        return self._world.accounts

    @property
    def upkeep(self) -> Upkeep:
        return self._world.upkeep

    @property
    def agents(self) -> Agents:
        return self._world.agents
