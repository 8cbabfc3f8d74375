"""Upkeep in memory for tests of operations: what it finds and does is what a test says."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import msgspec

from termvisor.clock import NS
from termvisor.errors import Conflict
from termvisor.model.health import Health, ProcessCost, ServerHealth
from termvisor.model.maintenance import Backup, Checked, Contents, Maintenance
from termvisor.model.reload import Reloaded
from termvisor.ops.config._shared import merge
from termvisor.settings import load

if TYPE_CHECKING:
    from termvisor.testing.world import MemoryWorld

_SOCKET = "/run/tmux/default"


class MemoryUpkeep:
    def __init__(self, world: "MemoryWorld"):
        self._world = world
        self.is_recording = True
        self.runs: list[Maintenance] = []
        self.wrong = ""
        self.backups: list[str] = []

    async def maintain(self, *, dry_run: bool = False) -> AsyncIterator[Maintenance]:
        for run in self.runs:
            yield run if not dry_run else msgspec.structs.replace(run, detail="foretold")

    async def check(self, *, thorough: bool = False) -> Checked:
        return Checked(path=self._world.configuration[0].database, is_thorough=thorough, wrong=self.wrong)

    async def vacuum(self, *, anew: bool = False) -> AsyncIterator[Maintenance]:
        for run in self.runs:
            yield run if not anew else msgspec.structs.replace(run, detail="made anew")

    async def backup(self, path: str) -> Backup:
        if path in self.backups:
            raise Conflict(f"there is a file {path} already")
        self.backups.append(path)
        contents = Contents(version=1, panes=len(await self._world.fleet.panes(gone=True)))
        return Backup(path=path, bytes=8192, taken_at=self._world.clock.now(), contents=contents)

    async def reload(self) -> Reloaded:
        places, settings = self._world.configuration
        self._world.settings, told = merge(settings, load(places))
        return told

    async def health(self) -> Health:
        panes = await self._world.fleet.panes()
        server = ServerHealth(target="local", socket=_SOCKET, mux_ok=True, client="control", panes=len(panes))
        return Health(
            version="0.1.0",
            started_at=self._world.clock.now() - 3600 * NS,
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
            last_checkpoint_at=self._world.clock.now() - 42 * NS,
            maintenance=tuple(run for run in self.runs if run.is_done),
            gaps=len(self._world.history.missing),
            restarts={},
            corrections=0,
            forks=7,
            daemon=ProcessCost(pid=4242, rss_bytes=41_000_000, cpu_seconds=12.5, cpu_percent=0.7),
            recorder=ProcessCost(pid=4243, rss_bytes=9_400_000, cpu_seconds=1.5, cpu_percent=0.1)
            if self.is_recording
            else None,
        )
