"""How the daemon itself is doing, and what keeps it well."""

import os
from collections.abc import AsyncIterator, Sequence
from typing import TypedDict

from termvisor import __version__
from termvisor.clock import NS
from termvisor.daemon.components import Parts
from termvisor.daemon.maintenance.scheduler import Caretaker
from termvisor.daemon.reload import reload
from termvisor.errors import MuxError
from termvisor.model.health import Health
from termvisor.model.maintenance import Backup, Checked, Maintenance
from termvisor.model.reload import Reloaded
from termvisor.model.workflow.run import Run
from termvisor.system.process_usage import Cost


class LiveUpkeep:
    def __init__(self, parts: Parts):
        self._parts = parts
        self._started_at = parts.clock.now()
        self._costs = Cost(), Cost()
        self.caretaker = Caretaker(parts.store, parts.places, parts.clock, lambda: parts.settings)

    async def health(self) -> Health:
        parts, lookout = self._parts, self._parts.lookout
        db_bytes, wal_pages = await parts.store.sizes()
        panes = await parts.store.panes.all()
        now = parts.clock.monotonic()
        daemon = self._costs[0].of(os.getpid(), now)
        if daemon is None:
            raise MuxError("this process cannot read its own cost")
        return Health(
            version=__version__,
            started_at=self._started_at,
            servers=(
                *(watch.health for watch in lookout.watches.values() if watch.has_looked.is_set()),
                *lookout.unwatched(),
            ),
            panes_tracked=len(panes),
            ingest_lag_max=parts.pipeline.lag_max,
            ingest_lag_avg=parts.pipeline.lag_average,
            ingest_backlog_bytes=parts.pipeline.backlog,
            queue_depth=parts.pipeline.queue_depth,
            db_writable=parts.store.writable(),
            db_bytes=db_bytes,
            wal_pages=wal_pages,
            last_checkpoint_at=parts.store.checkpointed_at,
            maintenance=tuple(await parts.store.keeping.notes()),
            raw_bytes=_folder_bytes(parts.places.raw_dir),
            gaps=sum(pane.gaps for pane in panes),
            restarts=lookout.restarts,
            corrections=sum(watch.corrections for watch in lookout.watches.values()),
            forks=lookout.forks,
            looks_per_minute=round(60 * parts.eyes.meter.rate(now), 1),
            **_under_way(await parts.store.runs.open(), parts.clock.now()),
            daemon=daemon,
            recorder=self._costs[1].of(parts.recorder.pid, now) if parts.recorder.pid else None,
            alerts=(
                *lookout.alerts.values(),
                *filter(None, [parts.pipeline.trouble or parts.patience.trouble, parts.sightings.trouble]),
                *filter(None, [parts.attending.knowing.trouble, self.caretaker.trouble]),
            ),
        )

    def maintain(self, *, dry_run: bool = False) -> AsyncIterator[Maintenance]:
        return self.caretaker.foretell() if dry_run else self.caretaker.round()

    async def check(self, *, thorough: bool = False) -> Checked:
        return await self.caretaker.check(thorough=thorough)

    def vacuum(self, *, anew: bool = False) -> AsyncIterator[Maintenance]:
        return self.caretaker.reindex() if anew else self.caretaker.vacuum()

    async def backup(self, path: str) -> Backup:
        return await self.caretaker.backup(path)

    async def reload(self) -> Reloaded:
        return await reload(self._parts)


class _UnderWay(TypedDict):
    workflows_active: int
    oldest_run_secs: float | None


def _under_way(runs: Sequence[Run], now: int) -> _UnderWay:
    oldest = max(0.0, (now - runs[0].at) / NS) if runs else None
    return {"workflows_active": len(runs), "oldest_run_secs": oldest}


def _folder_bytes(folder: str) -> int:
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(f"{where}/{name}").st_size
            except FileNotFoundError:
                continue
    return total
