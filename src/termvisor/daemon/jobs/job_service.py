"""Serve jobs to operations and to the gate, and connect the runner with capture, redaction and retention."""

import asyncio
import base64
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from statistics import median

import msgspec
from msgspec import Struct

from termvisor.backends.job_windows import JobWindows
from termvisor.bus import Subscription
from termvisor.capture.server_watcher import ServerWatcher
from termvisor.clock import NS
from termvisor.daemon.components import Components
from termvisor.daemon.jobs.job_secrets import JobSecrets, find_extractor
from termvisor.daemon.jobs.retention import JobRetention
from termvisor.daemon.jobs.terminals import LiveTerminals
from termvisor.errors import BadRequest, ObjectNotFound, StorageError
from termvisor.jobs.extractors import Extractor
from termvisor.jobs.host import WrapperJobHost
from termvisor.jobs.output import HarvestedBytes
from termvisor.jobs.program_host import ProgramJobHost
from termvisor.jobs.runner import JobRunner
from termvisor.log import get_logger
from termvisor.model.action.action import RunJob, StopJob
from termvisor.model.action.outcome import Outcome
from termvisor.model.ids import JobId, PaneId
from termvisor.model.job import ExtractedValues, Job, JobFilter, JobPruneResult, JobSpec, JobSummary
from termvisor.model.settings.jobs import JobClass
from termvisor.regex import compile_patterns
from termvisor.system.terminal_wait import TerminalWait, probe_terminal

_MAX_COMMON_PROMPTS = 3
_MAX_SUMMARIZED = 100_000
log = get_logger("jobs")


class JobOptions(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The settings of a job that change how it is watched, not what it does: `RunJob.options` as JSON."""

    detectors: tuple[str, ...] = ()
    redactors: tuple[str, ...] = ()
    retries: int = 0
    quiet_after: float = 0.0
    extractor: str = ""
    columns: int = 0
    rows: int = 0
    exact_argv: tuple[str, ...] = ()
    """The command in base64, if it has bytes that are not UTF-8."""


class JobService:
    """All jobs. ``find_server`` returns the watcher of the user's tmux server by its socket."""

    def __init__(self, components: Components, find_server: Callable[[str], Awaitable[ServerWatcher]]):
        self._components, self._store, self._clock = components, components.store, components.clock
        self._terminals = terminals = LiveTerminals(components, find_server)
        self._wrappers = WrapperJobHost(
            components.paths.job_dir,
            {"pty": terminals, "tmux": terminals, "session": terminals},
            components.settings.jobs_linger,
        )
        self._programs = ProgramJobHost(
            terminals.start_job_programs, terminals.find_job_programs, terminals.wait_for_pane
        )
        self.runner = JobRunner(
            store=components.store,
            event_log=components.event_log,
            clock=components.clock,
            hosts=lambda _place, has_wrapper: self._wrappers if has_wrapper else self._programs,
            wrappers=self._wrappers,
            folder=components.paths.job_dir,
            raw_dir=components.paths.raw_dir,
            read_last_line=self._read_last_line,
        )
        self.secrets = JobSecrets(components, self.runner.output)
        self.runner.on_end = self.secrets.schedule_scrub
        self.retention = JobRetention(components, self.runner, self.secrets)

    async def run(self) -> None:
        """Run until cancelled."""
        await self._components.server_supervisor.first_scan_done.wait()
        if (programs := self._terminals.find_job_programs()) is not None:
            programs.watch_job_programs(self.runner.note_program)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow_output())
            group.create_task(self.secrets.run())
            group.create_task(self._apply_retention())
            await self.runner.run()

    async def close(self) -> None:
        """Leave running jobs to themselves; the private server goes with the last of them."""
        backend = self._components.server_supervisor.backends.get("tmux")
        if isinstance(backend, JobWindows):
            await backend.release_job_server()

    async def _apply_retention(self) -> None:
        while True:
            await self._clock.sleep(self._components.settings.maintenance_interval)
            try:
                await self.retention.prune()
            except (StorageError, OSError) as error:  # the next round tries again
                log.warning("old jobs were not deleted: %s", error)

    async def _follow_output(self) -> None:
        with self._components.pipeline.changed_panes.subscribe(4096) as panes:
            panes.is_wanted = self.runner.has_pane
            while True:
                self.runner.note_output(await panes.get())

    def _read_last_line(self, pane: PaneId) -> str:
        reader = self._components.pipeline.current_readers.get(pane)
        return reader.pending_line if reader else ""

    # For operations.

    async def find(self, job: int) -> Job:
        """Return a job. Raises ObjectNotFound."""
        found = await self._store.jobs.find(JobId(job))
        if found is None:
            raise ObjectNotFound(f"there is no job {job}", hint="`visor job list` shows the jobs.")
        return found

    async def find_retry(self, job: Job) -> Job | None:
        """Return the next attempt of a failed job, if there is one."""
        return await self._store.jobs.find_retry(job.id)

    async def list(self, filters: JobFilter, limit: int) -> list[Job]:
        return await self._store.jobs.list(filters, limit)

    def subscribe(self) -> AbstractContextManager[Subscription[Job]]:
        """Subscribe to jobs whose state changed."""
        return self.runner.updates.subscribe()

    async def read_output(self, job: Job, cursor: int, limit: int) -> HarvestedBytes:
        """Return raw output after a cursor, and store the cursor with the job: NOT redacted."""
        harvested = await self.runner.output.read(job, cursor, limit)
        if harvested.cursor != job.cursor:
            await self._store.jobs.save(job.id, {"cursor": harvested.cursor})
        return harvested

    async def detach(self, job: Job) -> Job:
        return await self.runner.detach(job.id)

    def hold_secret(self, job: Job, value: str) -> str:
        """Keep a secret until it is typed and mask it from now on; return its digest."""
        return self.secrets.hold(job.id, value)

    def find_extractor(self, name: str) -> Extractor:
        """Return an extractor by name. Raises ObjectNotFound."""
        return find_extractor(name)

    async def extract(self, job: Job, name: str, secret_file: str) -> ExtractedValues:
        """Return what an extractor finds in the output, with secret values only in a new file. Raises VisorError."""
        return await self.secrets.extract(job, name, secret_file)

    async def prune(self, *, keep: int | None, is_dry_run: bool) -> JobPruneResult:
        """Delete what the settings no longer keep."""
        return await self.retention.prune(keep, is_dry_run=is_dry_run)

    def find_class(self, command: str) -> JobClass | None:
        """Return the first class of the settings that matches a command line."""
        for job_class in self._components.settings.job_class:
            if compile_patterns({"match": job_class.match}, "re2").find_ids(command.encode("utf-8", "replace")):
                return job_class
        return None

    async def summarize(self, filters: JobFilter) -> tuple[JobSummary, ...]:
        """Return figures about the jobs by name, the most frequent first."""
        by_name: dict[str, list[Job]] = {}
        for job in await self._store.jobs.list(filters, _MAX_SUMMARIZED):
            by_name.setdefault(job.name or job.command, []).append(job)
        return tuple(sorted((_summarize(name, jobs) for name, jobs in by_name.items()), key=lambda one: -one.jobs))

    # For the gate.

    async def start_job(self, action: RunJob, correlation: str) -> Outcome:
        try:
            options = msgspec.json.decode(action.options or "{}", type=JobOptions)
        except msgspec.MsgspecError as error:
            raise BadRequest(f"the options of the job are invalid: {error}") from error
        exact = tuple(os.fsdecode(base64.b64decode(word)) for word in options.exact_argv)
        spec = JobSpec(
            argv=exact or action.command,
            cwd=action.cwd,
            env=action.env,
            place=action.place,
            session=action.session,
            server=action.server,
            name=action.name,
            is_interactive=action.is_interactive,
            timeout=action.timeout,
            **{name: getattr(options, name) for name in JobOptions.__struct_fields__ if name != "exact_argv"},
        )
        masks = self.secrets.mask_patterns(spec.redactors)
        try:
            job = await self.runner.start(spec, command=" ".join(action.command), correlation=correlation)
        except BaseException:
            masks.close()
            raise
        if spec.redactors:
            self.secrets.add_patterns(job.id, spec.redactors, masks)
        if job.id not in self.runner.open_jobs:  # it has ended meanwhile
            self.secrets.schedule_scrub(job)
        return Outcome(status="done", job=job.id, pane=job.pane, mux_pane=job.mux_pane, pid=job.pid)

    async def stop_job(self, action: StopJob) -> Outcome:
        job = await self.runner.stop(JobId(action.job))
        return Outcome(status="done", job=job.id, pane=job.pane, text=job.state)

    def probe_terminal(self, pane: PaneId) -> TerminalWait:
        watch = self.runner.find_watch(pane)
        return TerminalWait(level="unknown") if watch is None else probe_terminal(watch.job.pid)

    def is_waiting(self, job: int) -> bool:
        watch = self.runner.open_jobs.get(JobId(job))
        return watch is not None and watch.job.state == "waiting_for_input"

    def get_secret(self, digest: str) -> str | None:
        return self.secrets.vault.get(digest)

    def note_input(self, job: int) -> None:
        self.runner.note_input(JobId(job))
        if (watch := self.runner.open_jobs.get(JobId(job))) is not None:
            self.secrets.schedule_scrub(watch.job)


def _summarize(name: str, jobs: Sequence[Job]) -> JobSummary:
    ended = [job for job in jobs if job.state == "finished"]
    durations = [(job.finished_at - job.started_at) / NS for job in ended if job.finished_at and job.started_at]
    prompts = Counter(prompt for job in jobs for prompt in job.prompts.splitlines())
    return JobSummary(
        name=name,
        jobs=len(jobs),
        running=sum(not job.is_over for job in jobs),
        succeeded=sum(job.code == 0 for job in ended),
        failed=sum(job.code != 0 for job in ended),
        lost=sum(job.state == "lost" for job in jobs),
        median_s=round(median(durations), 3) if durations else None,
        longest_s=round(max(durations), 3) if durations else None,
        prompts=tuple(prompt for prompt, _ in prompts.most_common(_MAX_COMMON_PROMPTS)),
    )
