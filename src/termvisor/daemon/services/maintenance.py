"""How the daemon itself is doing, and what keeps it well."""

import os
from collections.abc import AsyncIterator, Sequence
from typing import TypedDict

from termvisor import __version__
from termvisor.clock import NS
from termvisor.daemon.components import Components
from termvisor.daemon.maintenance.scheduler import MaintenanceScheduler
from termvisor.daemon.reload import reload_settings
from termvisor.errors import MuxError
from termvisor.model.health import HealthStatus
from termvisor.model.maintenance import DatabaseBackup, IntegrityReport, MaintenanceRun
from termvisor.model.reload import ReloadResult
from termvisor.model.workflow.run import Run
from termvisor.system.process_usage import ProcessUsageSampler


class DaemonMaintenance:
    def __init__(self, components: Components):
        self._components = components
        self._started_at = components.clock.now()
        self._process_usage = ProcessUsageSampler(), ProcessUsageSampler()
        self.scheduler = MaintenanceScheduler(
            components.store, components.paths, components.clock, lambda: components.settings
        )

    async def get_health(self) -> HealthStatus:
        parts, lookout = self._components, self._components.server_supervisor
        db_bytes, wal_pages = await parts.store.measure_sizes()
        panes = await parts.store.panes.list_panes()
        now = parts.clock.monotonic()
        daemon = self._process_usage[0].sample_usage(os.getpid(), now)
        if daemon is None:
            raise MuxError("this process cannot read its own cost")
        return HealthStatus(
            version=__version__,
            started_at=self._started_at,
            servers=(
                *(watch.health for watch in lookout.watchers.values() if watch.first_listing_done.is_set()),
                *lookout.list_unwatched_servers(),
            ),
            panes_tracked=len(panes),
            ingest_lag_max=parts.pipeline.max_lag_s,
            ingest_lag_avg=parts.pipeline.average_lag_s,
            ingest_backlog_bytes=parts.pipeline.backlog_bytes,
            queue_depth=parts.pipeline.queue_depth,
            db_writable=parts.store.is_writable(),
            db_bytes=db_bytes,
            wal_pages=wal_pages,
            last_checkpoint_at=parts.store.checkpointed_at,
            maintenance=tuple(await parts.store.maintenance.list_runs()),
            raw_bytes=_measure_folder(parts.paths.raw_dir),
            gaps=sum(pane.gaps for pane in panes),
            restarts=lookout.restart_counts,
            corrections=sum(watch.corrections for watch in lookout.watchers.values()),
            forks=lookout.fork_count,
            looks_per_minute=round(60 * parts.screen_sampler.meter.compute_rate(now), 1),
            **_summarize_runs(await parts.store.workflow_runs.list_open(), parts.clock.now()),
            daemon=daemon,
            recorder=self._process_usage[1].sample_usage(parts.recorder.pid, now) if parts.recorder.pid else None,
            alerts=(
                *lookout.alerts.values(),
                *filter(
                    None, [parts.pipeline.storage_error or parts.write_retry.problem, parts.sightings.storage_error]
                ),
                *filter(None, [parts.agent_tracking.tracker.storage_problem, self.scheduler.problem]),
            ),
        )

    def run_maintenance(self, *, dry_run: bool = False) -> AsyncIterator[MaintenanceRun]:
        return self.scheduler.preview_round() if dry_run else self.scheduler.run_round()

    async def check_database(self, *, thorough: bool = False) -> IntegrityReport:
        return await self.scheduler.check_database(thorough=thorough)

    def vacuum_database(self, *, rebuild_indexes: bool = False) -> AsyncIterator[MaintenanceRun]:
        return self.scheduler.reindex() if rebuild_indexes else self.scheduler.vacuum()

    async def backup_database(self, path: str) -> DatabaseBackup:
        return await self.scheduler.backup_database(path)

    async def reload_settings(self) -> ReloadResult:
        return await reload_settings(self._components)


class _RunFigures(TypedDict):
    workflows_active: int
    oldest_run_secs: float | None


def _summarize_runs(runs: Sequence[Run], now: int) -> _RunFigures:
    oldest = max(0.0, (now - runs[0].at) / NS) if runs else None
    return {"workflows_active": len(runs), "oldest_run_secs": oldest}


def _measure_folder(folder: str) -> int:
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(f"{where}/{name}").st_size
            except FileNotFoundError:
                continue
    return total
