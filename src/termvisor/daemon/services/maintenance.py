"""Serve health, reloading of settings and rules, and database maintenance to operations.

Invariant of a reload: invalid settings or rules change nothing; settings that need a restart keep their old value
everywhere. Stored text is not processed again.
"""

import os
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TypedDict

from msgspec import Struct
from msgspec.structs import replace

from termvisor import __version__
from termvisor.clock import NS
from termvisor.daemon.components import Components
from termvisor.daemon.maintenance.scheduler import MaintenanceScheduler
from termvisor.daemon.rules.precompile import load_redaction_rules
from termvisor.errors import MuxError, StorageError
from termvisor.log import configure_log_file, get_logger
from termvisor.model.health import HealthStatus, ProcessUsage
from termvisor.model.maintenance import DatabaseBackup, IntegrityReport, MaintenanceRun, ReloadResult, RulesReloadResult
from termvisor.model.workflow import Run
from termvisor.ops.config._settings import merge_settings
from termvisor.redaction import use_rules
from termvisor.settings import load_settings
from termvisor.store import StoredPane
from termvisor.system.files import find_trust_problem
from termvisor.system.procfs import ProcessUsageSampler

_REDACTION_SETTINGS = frozenset({"redact_patterns", "redact_allow"})
_LOG_SETTINGS = frozenset({"log_level", "log_bytes"})
log = get_logger("rules")


class MaintenanceService:
    """Health, settings reload and database maintenance."""

    def __init__(self, components: Components):
        self._components = components
        self._started_at = components.clock.now()
        self.find_policy_problem: Callable[[], str] = lambda: ""
        """Return the error in the policy file; set by the services, which own the gate."""
        # CPU usage is computed between two calls, so each process needs a sampler that remembers the last call.
        self._process_usage = ProcessUsageSampler(), ProcessUsageSampler()
        self.scheduler = MaintenanceScheduler(
            components.store,
            components.paths,
            components.clock,
            lambda: components.settings,
            components.retention_clock,
        )

    async def get_health(self) -> HealthStatus:
        components, supervisor = self._components, self._components.server_supervisor
        store, pipeline, watchers = components.store, components.pipeline, supervisor.watchers.values()
        db_bytes, wal_pages = await store.measure_sizes()
        stored = await self._read_store()
        now = components.clock.monotonic()
        daemon = self._process_usage[0].sample_usage(os.getpid(), now)
        if daemon is None:
            raise MuxError("the daemon cannot read its own memory and CPU usage")
        return HealthStatus(
            version=__version__,
            started_at=self._started_at,
            servers=(
                # A watcher has no server until its first listing.
                *(watcher.health for watcher in watchers if watcher.first_listing_done.is_set()),
                *supervisor.list_unwatched_servers(),
            ),
            panes_tracked=len(stored.panes),
            ingest_lag_max=pipeline.max_lag_s,
            ingest_lag_avg=pipeline.average_lag_s,
            ingest_backlog_bytes=pipeline.backlog_bytes,
            queue_depth=pipeline.queue_depth,
            db_writable=store.is_writable(),
            db_bytes=db_bytes,
            wal_pages=wal_pages,
            last_checkpoint_at=store.checkpointed_at,
            maintenance=stored.maintenance_runs,
            raw_bytes=_measure_folder(components.paths.raw_dir),
            gaps=sum(pane.gaps for pane in stored.panes),
            restarts=supervisor.restart_counts,
            corrections=sum(watcher.corrections for watcher in watchers),
            forks=supervisor.fork_count,
            looks_per_minute=round(60 * components.screen_sampler.meter.compute_rate(now), 1),
            **_summarize_runs(stored.open_runs, components.clock.now()),
            clock_jump_secs=components.retention_clock.jump_s,
            daemon=daemon,
            recorder=self._sample_recorder_usage(now),
            alerts=self._list_alerts(stored.problem),
        )

    def _sample_recorder_usage(self, now: float) -> ProcessUsage | None:
        pid = self._components.recorder.pid
        return self._process_usage[1].sample_usage(pid, now) if pid else None

    async def _read_store(self) -> "_StoredHealth":
        """Read what health shows from the database. A damaged one is reported, not raised: health must be readable."""
        store = self._components.store
        try:
            await store.check_files()
            return _StoredHealth(
                panes=await store.panes.list_panes(),
                maintenance_runs=tuple(await store.maintenance.list_runs()),
                open_runs=await store.workflow_runs.list_open(),
            )
        except StorageError as error:
            return _StoredHealth(problem=f"the database cannot be used: {error}")

    def _list_alerts(self, storage_problem: str) -> tuple[str, ...]:
        components = self._components
        distrust = find_trust_problem(components.paths.policy_file)
        problems = (
            # Report the same damage once.
            "" if components.store.file_problems else storage_problem,
            *components.store.file_problems,
            f"the policy is refused, so no action is allowed: {distrust}" if distrust else "",
            # Not only as an alert: a task that waits for the database on the same full disk cannot raise one.
            components.recorder.disk_space.problem,
            # Both are set while the disk is full, but one alert is enough.
            components.pipeline.storage_error or components.write_retry.problem,
            components.sightings.storage_error,
            components.agent_tracking.tracker.storage_problem,
            self.scheduler.problem,
            components.retention_clock.problem,
            self.find_policy_problem(),
        )
        return tuple(dict.fromkeys([*components.server_supervisor.alerts.values(), *filter(None, problems)]))

    def run_maintenance(self, *, dry_run: bool = False) -> AsyncIterator[MaintenanceRun]:
        """Seal, mask and compress raw segments, then delete data beyond the retention limits."""
        return self.scheduler.preview_round() if dry_run else self.scheduler.run_round()

    async def check_database(self, *, thorough: bool = False) -> IntegrityReport:
        return await self.scheduler.check_database(thorough=thorough)

    def vacuum_database(self, *, rebuild_indexes: bool = False) -> AsyncIterator[MaintenanceRun]:
        """Return free pages to the file system, in small slices that do not block writers.

        With ``rebuild_indexes``, rebuild the search indexes from the stored text instead; storing pauses meanwhile,
        and nothing is lost, since the recorder continues.
        """
        return self.scheduler.reindex() if rebuild_indexes else self.scheduler.vacuum()

    async def backup_database(self, path: str) -> DatabaseBackup:
        """Write a consistent copy of the database to a new private file. Raises StateConflict if the file exists."""
        return await self.scheduler.backup_database(path)

    async def reload_settings(self) -> ReloadResult:
        """Reload the settings and apply those that need no restart. On ConfigError, the old ones stay in force."""
        return await reload_settings(self._components)


async def reload_settings(components: Components) -> ReloadResult:
    """Read settings and rules from disk and apply them; raise ConfigError if the settings are invalid."""
    settings, result = merge_settings(components.settings, load_settings(components.paths))
    changed = frozenset(result.applied)
    # Done first: a new redaction pattern must be active before anything is logged or stored with the new settings.
    if changed & _REDACTION_SETTINGS:
        use_rules(await load_redaction_rules(components.paths, settings))
    if changed & _LOG_SETTINGS:
        configure_log_file(components.paths.log_file, settings)
    if changed:
        components.settings = settings
        components.pipeline.flush_interval = settings.flush_interval
        components.server_supervisor.apply_settings(settings)
        components.agent_tracking.apply_settings(settings)
        await components.event_log.emit("config_reloaded", settings=", ".join(result.applied))
    descriptions = components.agent_tracking.reload_descriptions(components.paths, components.settings)
    return replace(result, descriptions=descriptions, rules=await _reload_rules(components))


async def _reload_rules(components: Components) -> RulesReloadResult:
    result = await components.active_rules.reload(components.settings)
    # None if nothing changed, in which case agents keep their compiled screen rules and there is no event.
    if result.count is not None:
        components.agent_tracking.reload_screen_rules(components.paths, components.settings)
        await components.event_log.emit("rules_reloaded", rules=str(result.count))
    for problem in result.troubles:
        log.warning("rules were not reloaded: %s", problem)
    return result


class _StoredHealth(Struct, kw_only=True):
    panes: Sequence[StoredPane] = ()
    maintenance_runs: tuple[MaintenanceRun, ...] = ()
    open_runs: Sequence[Run] = ()
    problem: str = ""


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
            except FileNotFoundError:  # maintenance may delete segments in the meantime
                continue
    return total
