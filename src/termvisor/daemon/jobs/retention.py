"""Delete old ended jobs and their output, by age, number and size, and remove what dead jobs left behind."""

import asyncio
import os
from collections.abc import Callable, Sequence

from termvisor.capture import raw_log
from termvisor.capture.sealing import delete_segment
from termvisor.clock import NS
from termvisor.daemon.components import Components
from termvisor.daemon.jobs.job_secrets import JobSecrets
from termvisor.daemon.maintenance.raw_segments import load_epoch_progress
from termvisor.jobs.runner import JobRunner
from termvisor.model.ids import PaneId
from termvisor.model.job import Job, JobPruneResult

_DAY_NS = 86_400 * NS


class JobRetention:
    """Applies the settings of `[jobs]`. Only the output of terminals that are gone is deleted."""

    def __init__(self, components: Components, runner: JobRunner, secrets: JobSecrets):
        self._components, self._runner, self._secrets = components, runner, secrets

    async def prune(self, keep: int | None = None, *, is_dry_run: bool = False) -> JobPruneResult:
        """Delete what the settings no longer keep; ``keep`` is a maximum number of ended jobs."""
        settings, store = self._components.settings, self._components.store
        ended = await store.jobs.list_ended()
        old = select_old(
            ended,
            before=self._components.clock.now() - int(settings.jobs_retention * _DAY_NS)
            if settings.jobs_retention
            else 0,
            keep=settings.jobs_keep or None if keep is None else keep,
        )
        sizes = await asyncio.to_thread(self._measure_panes, [job.pane for job in ended if job.pane is not None])
        old_ids = {job.id for job in old}
        rest = [job for job in ended if job.id not in old_ids]
        beyond = select_beyond_size(rest, lambda job: sizes.get(job.pane or PaneId(0), 0), settings.jobs_bytes)
        panes = {job.pane for job in (*old, *beyond) if job.pane is not None}
        if is_dry_run:
            return JobPruneResult(jobs=len(old), freed_bytes=sum(sizes.get(pane, 0) for pane in panes))
        freed = await self._delete_output(panes)
        for job in old:
            self._secrets.forget(job.id)
            await store.jobs.remove(job.id)
        return JobPruneResult(jobs=len(old), freed_bytes=freed, orphans=await self._runner.remove_orphans())

    async def _delete_output(self, panes: set[PaneId]) -> int:
        store = self._components.store
        gone = {pane.id for pane in await store.panes.list_panes(include_gone=True) if pane.gone_at is not None}
        segments = await asyncio.to_thread(raw_log.list_segments, self._components.paths.raw_dir)
        progress = await load_epoch_progress(store)
        doomed = [
            segment for segment in segments if segment.pane in panes & gone and raw_log.is_complete(segment, progress)
        ]
        return await asyncio.to_thread(lambda: sum(delete_segment(one.folder, one.start) for one in doomed))

    def _measure_panes(self, panes: Sequence[PaneId]) -> dict[PaneId, int]:
        return {pane: _measure_folder(f"{self._components.paths.raw_dir}/{pane}") for pane in panes}


def select_old(jobs: Sequence[Job], *, before: int, keep: int | None) -> list[Job]:
    """Return the jobs, given oldest first, that are too old or too many."""
    excess = 0 if keep is None else max(0, len(jobs) - keep)
    return [job for number, job in enumerate(jobs) if number < excess or job.created_at < before]


def select_beyond_size(jobs: Sequence[Job], measure: Callable[[Job], int], limit: int) -> list[Job]:
    """Return the oldest jobs whose output does not fit into the limit any more."""
    if not limit:
        return []
    beyond, size = [], 0
    for job in reversed(jobs):
        size += measure(job)
        if size > limit:
            beyond.append(job)
    return beyond[::-1]


def _measure_folder(folder: str) -> int:
    size = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                size += os.stat(os.path.join(parent, name)).st_size
            except OSError:  # sealed or deleted meanwhile
                continue
    return size
