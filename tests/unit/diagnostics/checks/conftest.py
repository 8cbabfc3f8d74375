"""What a check sees in these tests: folders of its own, and a fleet that the test makes up."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from termvisor.diagnostics.checks.check import Hooks
from termvisor.model.agent.drift import Drift
from termvisor.model.health import Health
from termvisor.model.terminal.pane import PaneView
from termvisor.settings import Places, Settings
from termvisor.testing.world import MemoryWorld


class MemorySight:
    """``world`` None: no daemon runs."""

    def __init__(self, places: Places, world: MemoryWorld | None):
        self.places, self.world = places, world
        self.settings = Settings()
        self.clock = MemoryWorld().clock
        self.newest: int | None = None
        self.found = Hooks(())

    async def panes(self) -> Sequence[PaneView] | None:
        return await self.world.fleet.panes() if self.world else None

    async def health(self) -> Health | None:
        return await self.world.upkeep.health() if self.world else None

    async def drifts(self) -> Sequence[Drift] | None:
        return await self.world.agents.drifts() if self.world else None

    def hooks(self) -> Hooks:
        return self.found

    async def newest_at(self) -> int | None:
        return self.newest


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(*(str(tmp_path / name) for name in ("config", "data", "run")))


@pytest.fixture
def world() -> MemoryWorld:
    return MemoryWorld()


@pytest.fixture
def sight(places: Places, world: MemoryWorld) -> MemorySight:
    """With a daemon."""
    return MemorySight(places, world)


@pytest.fixture
def lonely(places: Places) -> MemorySight:
    """Without a daemon."""
    return MemorySight(places, None)
