"""Serve the daemon's health, settings reload and database maintenance to operations."""

import os
from collections.abc import AsyncIterator, Sequence
from typing import TypedDict

from termvisor import __version__
from termvisor.clock import NS
from termvisor.daemon.components import Components
from termvisor.daemon.maintenance.scheduler import MaintenanceScheduler
from termvisor.daemon.reload import reload_settings
from termvisor.errors import MuxError
from termvisor.model.health import HealthStatus, ProcessUsage
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
        components, supervisor = self._components, self._components.server_supervisor
        store, pipeline, watchers = components.store, components.pipeline, supervisor.watchers.values()
        db_bytes, wal_pages = await store.measure_sizes()
        panes = await store.panes.list_panes()
        now = components.clock.monotonic()
        daemon = self._process_usage[0].sample_usage(os.getpid(), now)
        if daemon is None:
            raise MuxError("the daemon cannot read its own memory and CPU usage")
        return HealthStatus(
            version=__version__,
            started_at=self._started_at,
            servers=(
                *(watcher.health for watcher in watchers if watcher.first_listing_done.is_set()),
                *supervisor.list_unwatched_servers(),
            ),
            panes_tracked=len(panes),
            ingest_lag_max=pipeline.max_lag_s,
            ingest_lag_avg=pipeline.average_lag_s,
            ingest_backlog_bytes=pipeline.backlog_bytes,
            queue_depth=pipeline.queue_depth,
            db_writable=store.is_writable(),
            db_bytes=db_bytes,
            wal_pages=wal_pages,
            last_checkpoint_at=store.checkpointed_at,
            maintenance=tuple(await store.maintenance.list_runs()),
            raw_bytes=_measure_folder(components.paths.raw_dir),
            gaps=sum(pane.gaps for pane in panes),
            restarts=supervisor.restart_counts,
            corrections=sum(watcher.corrections for watcher in watchers),
            forks=supervisor.fork_count,
            looks_per_minute=round(60 * components.screen_sampler.meter.compute_rate(now), 1),
            **_summarize_runs(await store.workflow_runs.list_open(), components.clock.now()),
            daemon=daemon,
            recorder=self._sample_recorder_usage(now),
            alerts=self._list_alerts(),
        )

    def _sample_recorder_usage(self, now: float) -> ProcessUsage | None:
        pid = self._components.recorder.pid
        return self._process_usage[1].sample_usage(pid, now) if pid else None

    def _list_alerts(self) -> tuple[str, ...]:
        components = self._components
        problems = (
            components.pipeline.storage_error or components.write_retry.problem,
            components.sightings.storage_error,
            components.agent_tracking.tracker.storage_problem,
            self.scheduler.problem,
        )
        return (*components.server_supervisor.alerts.values(), *filter(None, problems))

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


class _RunSummary(TypedDict):
    workflows_active: int
    oldest_run_secs: float | None


def _summarize_runs(runs: Sequence[Run], now: int) -> _RunSummary:
    oldest = max(0.0, (now - runs[0].at) / NS) if runs else None
    return {"workflows_active": len(runs), "oldest_run_secs": oldest}


def _measure_folder(folder: str) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(f"{parent}/{name}").st_size
            except FileNotFoundError:  # maintenance deletes segments meanwhile
                continue
    return total
