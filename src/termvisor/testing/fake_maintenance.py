"""A fake maintenance service for tests of operations, with results set by the test."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import msgspec

from termvisor.clock import NS
from termvisor.daemon.services.maintenance import MaintenanceService
from termvisor.errors import StateConflict
from termvisor.model.health import HealthStatus, ProcessUsage, ServerHealth
from termvisor.model.maintenance import (
    DatabaseBackup,
    DatabaseContents,
    DescriptionsReloadResult,
    IntegrityReport,
    MaintenanceRun,
    ReloadResult,
)
from termvisor.ops.config._settings import merge_settings
from termvisor.settings import load_settings

if TYPE_CHECKING:
    from termvisor.testing.fake_services import FakeServices

_TMUX_SOCKET = "/run/tmux/default"


class FakeMaintenance(MaintenanceService):
    def __init__(self, services: "FakeServices"):
        self._services = services
        self.is_recording = True
        self.alerts: tuple[str, ...] = ()
        self.clock_jump_s = 0.0
        self.maintenance_steps: list[MaintenanceRun] = []
        self.check_problem = ""
        self.backups: list[str] = []
        self.reloaded_descriptions = DescriptionsReloadResult()

    async def run_maintenance(self, *, dry_run: bool = False) -> AsyncIterator[MaintenanceRun]:
        for run in self.maintenance_steps:
            yield run if not dry_run else msgspec.structs.replace(run, detail="preview")

    async def check_database(self, *, thorough: bool = False) -> IntegrityReport:
        return IntegrityReport(
            path=self._services.configuration[0].database, is_thorough=thorough, wrong=self.check_problem
        )

    async def vacuum_database(self, *, rebuild_indexes: bool = False) -> AsyncIterator[MaintenanceRun]:
        for run in self.maintenance_steps:
            yield run if not rebuild_indexes else msgspec.structs.replace(run, detail="rebuilt")

    async def backup_database(self, path: str) -> DatabaseBackup:
        if path in self.backups:
            # A backup never replaces a file.
            raise StateConflict(f"{path} already exists")
        self.backups.append(path)
        contents = DatabaseContents(version=1, panes=len(await self._services.panes.list_panes(include_gone=True)))
        return DatabaseBackup(path=path, bytes=8192, taken_at=self._services.clock.now(), contents=contents)

    async def reload_settings(self) -> ReloadResult:
        paths, settings = self._services.configuration
        self._services.settings, result = merge_settings(settings, load_settings(paths))
        return msgspec.structs.replace(result, descriptions=self.reloaded_descriptions)

    async def get_health(self) -> HealthStatus:
        panes = await self._services.panes.list_panes()
        server = ServerHealth(target="local", socket=_TMUX_SOCKET, mux_ok=True, client="native", panes=len(panes))
        return HealthStatus(
            version="0.1.0",
            clock_jump_secs=self.clock_jump_s,
            started_at=self._services.clock.now() - 3600 * NS,
            servers=(server,),
            panes_tracked=len(panes),
            ingest_lag_max=0.031,
            ingest_lag_avg=0.008,
            ingest_backlog_bytes=0,
            queue_depth=0,
            db_writable=True,
            db_bytes=12_400_000,
            wal_pages=12,
            raw_bytes=340_000_000,
            last_checkpoint_at=self._services.clock.now() - 42 * NS,
            maintenance=tuple(run for run in self.maintenance_steps if run.is_done),
            gaps=len(await self._services.history.list_gaps()),
            restarts={},
            corrections=0,
            forks=7,
            daemon=ProcessUsage(pid=4242, rss_bytes=41_000_000, cpu_seconds=12.5, cpu_percent=0.7),
            recorder=ProcessUsage(pid=4243, rss_bytes=9_400_000, cpu_seconds=1.5, cpu_percent=0.1)
            if self.is_recording
            else None,
            alerts=self.alerts,
        )
