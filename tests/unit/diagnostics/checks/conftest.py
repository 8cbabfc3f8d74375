"""A check context with temporary directories and in-memory services."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from termvisor.diagnostics.checks.check import InstalledHooks
from termvisor.model.agent.agent_view import AgentView
from termvisor.model.agent.evidence import AgentDrift
from termvisor.model.health import HealthStatus
from termvisor.model.terminal.pane import PaneView
from termvisor.settings import Paths, Settings
from termvisor.testing.fake_services import FakeServices


class FakeCheckContext:
    """``services`` is None without a daemon."""

    def __init__(self, paths: Paths, services: FakeServices | None):
        self.paths, self.services = paths, services
        self.settings = Settings()
        self.clock = FakeServices().clock
        self.newest_event_at: int | None = None
        self.found = InstalledHooks(())

    async def list_panes(self) -> Sequence[PaneView] | None:
        return await self.services.panes.list_panes() if self.services else None

    async def get_health(self) -> HealthStatus | None:
        return await self.services.maintenance.get_health() if self.services else None

    async def list_drifts(self) -> Sequence[AgentDrift] | None:
        return await self.services.agents.list_drifts() if self.services else None

    async def list_agents(self) -> Sequence[AgentView] | None:
        return tuple((await self.services.agents.list_views()).values()) if self.services else None

    def inspect_hooks(self) -> InstalledHooks:
        return self.found

    async def read_newest_event_time(self) -> int | None:
        return self.newest_event_at


@pytest.fixture
def places(tmp_path: Path) -> Paths:
    return Paths(*(str(tmp_path / name) for name in ("config", "data", "run")))


@pytest.fixture
def services() -> FakeServices:
    return FakeServices()


@pytest.fixture
def context(places: Paths, services: FakeServices) -> FakeCheckContext:
    """With a daemon."""
    return FakeCheckContext(places, services)


@pytest.fixture
def offline_context(places: Paths) -> FakeCheckContext:
    """Without a daemon."""
    return FakeCheckContext(places, None)
