"""The World of a process that has no daemon: its places, settings and clock, and nothing to look at."""

from typing import NoReturn

from termvisor.clock import Clock, SystemClock
from termvisor.errors import Unavailable
from termvisor.ops.api.accounts_service import Accounts
from termvisor.ops.api.agents_service import Agents
from termvisor.ops.api.detections_service import Detections
from termvisor.ops.api.services import Fleet, History, News, Upkeep
from termvisor.ops.api.workflows_service import Runs
from termvisor.settings import Places, Settings, load, places


class LocalWorld:
    """Serves ops whose effect is `local`, and those that work alone; all else is `Unavailable`."""

    def __init__(self, where: Places | None = None, clock: Clock | None = None):
        self.places = where or places()
        self.clock: Clock = clock or SystemClock()

    @property
    def configuration(self) -> tuple[Places, Settings]:
        return self.places, load(self.places)

    @property
    def fleet(self) -> Fleet:
        _absent()

    @property
    def accounts(self) -> Accounts:
        _absent()

    @property
    def agents(self) -> Agents:
        _absent()

    @property
    def history(self) -> History:
        _absent()

    @property
    def news(self) -> News:
        _absent()

    @property
    def upkeep(self) -> Upkeep:
        _absent()

    @property
    def detections(self) -> Detections:
        _absent()

    @property
    def runs(self) -> Runs:
        _absent()


def _absent() -> NoReturn:
    raise Unavailable("no daemon is running", hint="`visor up` starts it.")
