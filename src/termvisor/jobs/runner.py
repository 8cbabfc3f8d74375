"""Run jobs: start them through their host, watch each one until it ends, stop it on request or after its timeout.

Invariant: a change of state is stored before it is published, and an end is stored once, whatever was killed meanwhile:
after a restart every job that had not ended is watched again.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress

from msgspec.structs import replace

from termvisor.bus import Bus
from termvisor.capture.event_log import EventLog
from termvisor.clock import NS, Clock
from termvisor.errors import NotFound, ObjectNotFound, VisorError
from termvisor.jobs.host import JobHost, JobProgress, WrapperJobHost
from termvisor.jobs.job_folder import list_job_ids
from termvisor.jobs.job_watch import JobLook, JobWatch
from termvisor.jobs.output import JobOutput
from termvisor.jobs.stop import stop_processes
from termvisor.log import get_logger
from termvisor.model.ids import JobId, PaneId
from termvisor.model.job import Job, JobPlace, JobSpec, JobWait
from termvisor.redaction import redact
from termvisor.store import Store
from termvisor.system.inotify import CHANGE_EVENTS, FolderChange, FolderWatch, Inotify

_MAX_COMMAND_CHARS = 500
_MAX_PROMPTS = 20
log = get_logger("jobs")


class JobRunner:
    """All jobs of this daemon. ``read_last_line`` returns the unfinished last line of a pane, redacted."""

    def __init__(
        self,
        *,
        store: Store,
        event_log: EventLog,
        clock: Clock,
        hosts: Callable[[JobPlace, bool], JobHost],
        wrappers: WrapperJobHost,
        folder: str,
        raw_dir: str,
        read_last_line: Callable[[PaneId], str],
    ):
        self._store, self._event_log, self._clock, self._folder = store, event_log, clock, folder
        self._get_host, self._wrappers = hosts, wrappers
        self._read_last_line = read_last_line
        self.output = JobOutput(store, raw_dir, wrappers.get_folder)
        self.updates: Bus[Job] = Bus()
        self._watches: dict[JobId, JobWatch] = {}
        self._watch_by_pane: dict[PaneId, JobWatch] = {}
        self._own_jobs: set[JobId] = set()
        """Jobs that this daemon started, which may be before its watches run."""
        self._specs: dict[JobId, JobSpec] = {}
        """The exact commands, for retries. They are kept in memory only."""
        self._inotify: Inotify | None = None
        self._group: asyncio.TaskGroup | None = None
        self.on_end: Callable[[Job], None] = lambda job: None
        """Called with each job that has ended, before its end is published."""

    async def run(self) -> None:
        """Watch the jobs of an earlier daemon and all new ones until cancelled. Panes must be known."""
        # Without inotify, the looks alone find the end.
        with suppress(OSError):
            self._inotify = Inotify()
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                for job in await self._store.jobs.list_open():
                    if job.id not in self._own_jobs:
                        await self._resume(job)
                for watch in [*self._watches.values()]:
                    self._start_watch(watch)
                await asyncio.Event().wait()
        finally:
            self._group = None
            if self._inotify is not None:
                self._inotify.close()

    @property
    def open_jobs(self) -> Mapping[JobId, JobWatch]:
        return self._watches

    async def start(
        self, spec: JobSpec, *, command: str, correlation: str, attempt: int = 1, retry_of: JobId | None = None
    ) -> Job:
        """Start a job and return it once its command runs. Raises VisorError; the job is then stored as lost."""
        job = await self._store.jobs.add(self._build_job(spec, command, correlation, attempt, retry_of))
        self._own_jobs.add(job.id)
        try:
            prepared = await self._find_host(job).prepare(job.id, spec)
        except BaseException as error:
            why = error.code if isinstance(error, VisorError) else "interrupted"
            await self._save(job, state="lost", why=why, finished_at=self._clock.now())
            raise
        terminal = prepared.terminal
        job = await self._save(
            job,
            server=terminal.server,
            mux_pane=terminal.mux_pane,
            pane=prepared.pane,
            pid=terminal.pid,
            pid_started=prepared.pid_started,
            boot=prepared.boot,
        )
        self._specs[job.id] = spec
        self.watch_job(job, spec)
        await self._find_host(job).begin(job.id)
        return job

    def _build_job(self, spec: JobSpec, command: str, correlation: str, attempt: int, retry_of: JobId | None) -> Job:
        return Job(
            id=JobId(0),
            name=redact(spec.name),
            command=redact(command)[:_MAX_COMMAND_CHARS],
            place=spec.place,
            session=spec.session,
            timeout=spec.timeout,
            attempt=attempt,
            retry_of=retry_of,
            is_interactive=spec.is_interactive,
            extractor=spec.extractor,
            created_at=self._clock.now(),
            correlation=correlation,
        )

    async def _resume(self, job: Job) -> None:
        """Watch a job that an earlier daemon left."""
        if job.pane is None:
            # That daemon was killed before the terminal was known; its wrapper gives up by itself.
            await self._save(job, state="lost", why="never_begun", finished_at=self._clock.now())
            self._wrappers.forget(job.id)
            return
        self.watch_job(job)
        # Repeating it does nothing, and without it a job that was about to begin never would.
        await self._find_host(job).begin(job.id)

    def _find_host(self, job: Job) -> JobHost:
        return self._get_host(job.place, job.has_wrapper)

    def watch_job(self, job: Job, spec: JobSpec | None = None) -> None:
        """Watch a job until it ends; without ``spec``, an earlier daemon started it."""
        pane = job.pane
        watch = JobWatch(
            job,
            host=self._find_host(job),
            output=self.output,
            clock=self._clock,
            spec=spec,
            read_last_line=lambda: "" if pane is None else self._read_last_line(pane),
        )
        self._watches[job.id] = watch
        if pane is not None:
            self._watch_by_pane[pane] = watch
        self._start_watch(watch)

    def _start_watch(self, watch: JobWatch) -> None:
        if self._group is not None and not watch.is_started:
            watch.is_started = True
            self._group.create_task(self._run_watch(watch))

    def note_output(self, pane: PaneId) -> None:
        """Wake the watch of a job whose terminal printed something."""
        if (watch := self._watch_by_pane.get(pane)) is not None:
            watch.note_output()

    def note_program(self, pid: int) -> None:
        """Look at the job of a program that changed."""
        for watch in self._watches.values():
            if watch.job.pid == pid:
                watch.note_change()

    def find_watch(self, pane: PaneId) -> JobWatch | None:
        return self._watch_by_pane.get(pane)

    def has_pane(self, pane: PaneId) -> bool:
        return pane in self._watch_by_pane

    def note_input(self, job: JobId) -> None:
        if (watch := self._watches.get(job)) is not None:
            watch.note_input()

    async def _run_watch(self, watch: JobWatch) -> None:
        folder_watch = self._watch_folder(watch)
        try:
            while not await self._try_look(watch):
                await watch.wait_for_look(self._find_deadline(watch))
        finally:
            if folder_watch is not None and self._inotify is not None:
                self._inotify.unwatch_folder(folder_watch)
            self._watches.pop(watch.job.id, None)
            if watch.job.pane is not None:
                self._watch_by_pane.pop(watch.job.pane, None)

    async def _try_look(self, watch: JobWatch) -> bool:
        """Look at a job; return True if it has ended. What fails now is tried again at the next look."""
        try:
            return await self._take_look(watch)
        except (VisorError, OSError) as error:
            # A full disk, a log that cannot be read, a host that restarts: the job itself is unharmed.
            log.error("job %d cannot be looked at: %s", watch.job.id, error)
            return False

    def _watch_folder(self, watch: JobWatch) -> FolderWatch | None:
        def note_change(_change: FolderChange) -> None:
            watch.note_change()

        if self._inotify is not None and watch.job.has_wrapper:
            with suppress(OSError):  # no watches left, or the folder was removed: the looks find the end
                return self._inotify.watch_folder(
                    self._wrappers.get_folder(watch.job.id).path, CHANGE_EVENTS, note_change
                )
        return None

    def _find_deadline(self, watch: JobWatch) -> float | None:
        """Return the monotonic time of the job's timeout."""
        job = watch.job
        if not job.timeout or job.started_at is None or watch.is_stopping:
            return None
        left = job.timeout - (self._clock.now() - job.started_at) / NS
        return self._clock.monotonic() + max(0.0, left)

    async def _take_look(self, watch: JobWatch) -> bool:
        """Look at a job once and store what changed; return True if it has ended."""
        look = await watch.look()
        if look.progress.state == "finished":
            await self._finish(watch, look.progress)
            return True
        if look.progress.state == "lost":
            await self._lose(watch, look.progress)
            return True
        if look.progress.state == "running":
            await self._update(watch, look)
            deadline = self._find_deadline(watch)
            if deadline is not None and deadline <= self._clock.monotonic() and self._group is not None:
                self._group.create_task(self.stop(watch.job.id, "timeout"))
        return False

    async def _update(self, watch: JobWatch, look: JobLook) -> None:
        job, wait = watch.job, look.wait
        known = JobWait(evidence=job.evidence, prompt=job.prompt) if job.evidence else None  # type: ignore[arg-type]
        if job.state in ("running", "waiting_for_input") and wait == known:
            return
        watch.job = await self._save(
            job,
            started_at=look.progress.started_at or job.started_at,
            state="running" if wait is None else "waiting_for_input",
            evidence="" if wait is None else wait.evidence,
            prompt="" if wait is None else wait.prompt,
            prompts=_add_prompt(job.prompts, wait),
        )

    async def _finish(self, watch: JobWatch, progress: JobProgress) -> None:
        end = progress.end
        if end is None:
            return
        offset = await watch.wait_for_end_mark()
        job = watch.job = await self._save(
            watch.job,
            state="finished",
            evidence="",
            prompt="",
            code=end.code,
            signal=end.signal or None,
            errno=end.errno,
            started_at=end.started_at,
            finished_at=end.finished_at,
            user_s=end.user_s,
            system_s=end.system_s,
            max_rss=end.max_rss,
            end_offset=offset,
            why=watch.stop_cause,
        )
        # Only now: a wrapper that exits closes the terminal.
        await self._find_host(job).acknowledge(job)
        await self._retry(watch, job)

    async def _lose(self, watch: JobWatch, progress: JobProgress) -> None:
        why = watch.stop_cause or progress.loss or ""
        size = await self.output.measure(watch.job.pane)
        watch.job = await self._save(
            watch.job, state="lost", evidence="", prompt="", why=why, end_offset=size, finished_at=self._clock.now()
        )
        await self._find_host(watch.job).acknowledge(watch.job)
        self._specs.pop(watch.job.id, None)

    async def _retry(self, watch: JobWatch, job: Job) -> None:
        """Start the next attempt of a job that failed by itself, if its class allows one."""
        spec = self._specs.pop(job.id, None)
        if spec is None or job.code == 0 or watch.stop_cause or job.attempt > spec.retries:
            return
        try:
            await self.start(
                spec, command=job.command, correlation=job.correlation, attempt=job.attempt + 1, retry_of=job.id
            )
        except VisorError as error:
            log.warning("job %d cannot be retried: %s", job.id, error)

    async def stop(self, job_id: JobId, cause: str = "stopped") -> Job:
        """End a job: INT, TERM, KILL to its program, then to all processes of its terminal. Raises NotFound."""
        watch = self._watches.get(job_id)
        if watch is None:
            job = await self._store.jobs.find(job_id)
            if job is None:
                raise ObjectNotFound(f"there is no job {job_id}")
            return job
        if not watch.is_stopping:
            watch.is_stopping, watch.stop_cause = True, cause
            with self.updates.subscribe() as updates:
                updates.is_wanted = lambda job: job.id == job_id and job.is_over
                await stop_processes(watch.job, self._clock, updates, watch.note_change)
        return await self._store.jobs.find(job_id) or watch.job

    async def detach(self, job_id: JobId) -> Job:
        """Stop tracking a job; its process goes on."""
        watch = self._watches.get(job_id)
        if watch is None:
            raise NotFound(f"job {job_id} is not running")
        watch.job = await self._save(watch.job, is_detached=True, state="lost", why="detached")
        self._wrappers.forget(job_id)
        watch.note_change()
        return watch.job

    async def remove_orphans(self) -> int:
        """Remove the folders of jobs that are not stored as running; return how many."""
        removed = 0
        for job_id in list_job_ids(self._folder):
            job = await self._store.jobs.find(job_id)
            if job_id not in self._watches and (job is None or job.is_over):
                self._wrappers.forget(job_id)
                removed += 1
        return removed

    async def _save(self, job: Job, **changes: object) -> Job:
        saved = await self._store.jobs.save(job.id, changes) or replace(job, **changes)
        if "state" in changes:
            if saved.is_over:
                self.on_end(saved)
            await self._event_log.emit(
                "job_changed",
                saved.pane,
                job=saved.id,
                state=saved.state,
                evidence=saved.evidence,
                prompt=saved.prompt,
                code=saved.code,
                signal=saved.signal,
                why=saved.why,
            )
            self.updates.publish(saved)
        return saved


def _add_prompt(prompts: str, wait: JobWait | None) -> str:
    known = prompts.splitlines()
    if wait is None or not wait.prompt or wait.prompt in known or len(known) >= _MAX_PROMPTS:
        return prompts
    return "\n".join([*known, wait.prompt])
