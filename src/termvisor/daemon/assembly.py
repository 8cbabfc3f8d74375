"""Build, connect, start and stop all components of the daemon (the composition root)."""

import asyncio
import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import partial

from termvisor import __version__
from termvisor.backends.backend import BackendDependencies, ForkCounter, OwnServerBackend
from termvisor.backends.pane_source import PaneSource
from termvisor.backends.registry import build_backends
from termvisor.backends.transports.local import LocalTransport
from termvisor.capture.epochs import EpochLifecycle
from termvisor.capture.event_log import EventLog
from termvisor.capture.raw_log import find_highest_ids
from termvisor.capture.recorder_client import RecorderClient
from termvisor.capture.screen_sampler import PaintActivity, ScreenSampler
from termvisor.capture.server_supervisor import ServerSupervisor
from termvisor.clock import Clock, SystemClock
from termvisor.daemon.acting import approval_notifications, event_notifications
from termvisor.daemon.acting.approval_notifications import SendNotification, notify_approvals
from termvisor.daemon.acting.event_notifications import EventNotifier
from termvisor.daemon.acting.permission_request_watcher import PermissionRequestWatcher
from termvisor.daemon.acting.spawn_gate import release_leftover_gates
from termvisor.daemon.agents.assembly import (
    build_agent_tracking,
    connect_capture,
    run_agent_tracking,
)
from termvisor.daemon.agents.failure_monitor import FailureMonitor
from termvisor.daemon.components import Components
from termvisor.daemon.maintenance.derived_text import derive_doubtful_text
from termvisor.daemon.maintenance.retention_clock import RetentionClock
from termvisor.daemon.maintenance.scheduler import MemoryTrimmer
from termvisor.daemon.replay.terminal_renderer import build_renderer_factory
from termvisor.daemon.rules.active_rules import ActiveRules
from termvisor.daemon.rules.precompile import load_redaction_rules
from termvisor.daemon.services.services import DaemonServices
from termvisor.errors import StorageError
from termvisor.log import get_logger
from termvisor.model.action.action import Actor, Notify
from termvisor.model.action.approval import Approval
from termvisor.model.action.outcome import DeliveryRecord
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.pipeline import Pipeline, SightingRecorder
from termvisor.redaction import use_rules
from termvisor.settings import Paths, Settings
from termvisor.store import Store
from termvisor.store.sqlite.retrying_database import WriteRetry
from termvisor.system.shell_nonce import load_nonce
from termvisor.system.shell_state import read_shell_state

_CHECKPOINT_INTERVAL_S = 60.0
_SHUTDOWN_POLL_INTERVAL_S = 1.0
log = get_logger("daemon")


@asynccontextmanager
async def open_services(paths: Paths, settings: Settings) -> AsyncIterator[DaemonServices]:
    """Start capture and all other components and yield the services; stop and close everything at the end."""
    clock = SystemClock()
    # Must precede opening the store: no text may be stored or logged without the user's redaction patterns.
    use_rules(await load_redaction_rules(paths, settings))
    store = await Store.open(paths.database, clock)
    try:
        components = await _build_components(paths, settings, store, clock)
        async with asyncio.TaskGroup() as group:
            pipeline_task = group.create_task(components.pipeline.run())
            trimmer = MemoryTrimmer(store, clock, lambda: components.pipeline.captured_bytes)
            store_tasks = [group.create_task(_run_checkpoints(store, clock)), group.create_task(trimmer.run())]
            sampler_tasks = [
                group.create_task(components.screen_sampler.run()),
                group.create_task(components.sightings.run()),
            ]
            tracker_task = group.create_task(components.agent_tracking.tracker.run())
            supervisor_task = group.create_task(components.server_supervisor.run())
            sampler_tasks.append(group.create_task(_run_agent_tracking(components)))
            await components.event_log.emit("daemon_started", version=__version__, pid=os.getpid())
            services = DaemonServices(components)
            group.create_task(_recover_sends(services, components, await store.deliveries.list_open()))
            jobs = _list_background_jobs(services, components, await _recover_approvals(services, components))
            job_tasks = [group.create_task(job) for job in jobs]
            try:
                yield services
            finally:
                # Order matters: stop capture, store what was captured, then stop the tasks that store it.
                await _stop_capture(services, components, supervisor_task)
                await _wait_or_abandon(group.create_task(components.pipeline.wait_settled()), components)
                await _stop_sampling(components, sampler_tasks, tracker_task)
                with suppress(StorageError):  # a full disk must not keep the daemon from stopping
                    await components.event_log.emit("daemon_stopped")
                for task in job_tasks:
                    task.cancel()
                await services.maintenance.scheduler.make_final_snapshot()
                for task in (pipeline_task, *store_tasks):
                    task.cancel()
    finally:
        await store.close()


def _list_background_jobs(
    services: DaemonServices, components: Components, open_approvals: list[Approval]
) -> list[Coroutine[None, None, None]]:
    """Return the jobs that run for the daemon's lifetime and may be cancelled at any time."""
    scheduler = services.maintenance.scheduler
    return [
        scheduler.run(),
        scheduler.run_snapshots(),
        notify_approvals(
            components.approval_bus,
            lambda: components.settings.notify_ways,
            _build_notification_sender(services, components, approval_notifications.build_actor()),
            open_approvals,
        ),
        services.workflows.run(),
        services.jobs.run(),
        services.accounts.run(),
        components.active_rules.run(),
        EventNotifier(
            events=components.event_log.events,
            store=components.store,
            get_settings=lambda: components.settings,
            send=_build_notification_sender(services, components, event_notifications.build_actor()),
            clock=components.clock,
        ).run(),
        services.agents.drift_monitor.run(),
        PermissionRequestWatcher(components, lambda: services.gate_components).run(),
        FailureMonitor(components).run(),
    ]


async def _build_components(paths: Paths, settings: Settings, store: Store, clock: Clock) -> Components:
    retention_clock = await _prepare_store(paths, settings, store, clock)
    write_retry = WriteRetry(clock)
    event_log = EventLog(store.events, clock, write_retry)
    pipeline = _build_pipeline(paths, settings, store, clock)
    # Share one bus, so that subscribers receive events from streams and from the daemon alike.
    pipeline.events = event_log.events
    active_rules = ActiveRules(pipeline.matcher, paths)
    await active_rules.load(settings)
    recorder = RecorderClient(paths, settings, pipeline.note_growth)
    # Capture retries while the disk is full; operations use the plain store and get the error immediately.
    epochs = EpochLifecycle(store.with_write_retry(write_retry), pipeline, event_log, clock)
    epochs.read_shell_state = partial(read_shell_state, paths.shell_state_dir, pipeline.nonce)
    supervisor = _build_supervisor(paths, settings, epochs, recorder)
    sightings = SightingRecorder(store, pipeline, clock)
    agent_tracking = await build_agent_tracking(store, event_log, clock, paths, settings)
    connect_capture(agent_tracking, pipeline, supervisor)
    screen_sampler = ScreenSampler(clock, partial(_find_pane_location, supervisor), sightings.store_samples)
    pipeline.on_paint_activity = partial(_note_paint_activity, screen_sampler, sightings)
    # Raw logs may use ids that are missing in the database; a new pane must not get one of them.
    await store.maintenance.reserve_ids(*find_highest_ids(paths.raw_dir))
    # Last, because the recorder reports the streams of an earlier daemon as soon as it is connected.
    await recorder.start()
    release_leftover_gates(paths.runtime_dir)
    return Components(
        store=store,
        pipeline=pipeline,
        event_log=event_log,
        server_supervisor=supervisor,
        recorder=recorder,
        screen_sampler=screen_sampler,
        sightings=sightings,
        clock=clock,
        paths=paths,
        settings=settings,
        write_retry=write_retry,
        agent_tracking=agent_tracking,
        active_rules=active_rules,
        retention_clock=retention_clock,
    )


def _build_supervisor(
    paths: Paths, settings: Settings, epochs: EpochLifecycle, recorder: RecorderClient
) -> ServerSupervisor:
    forks = ForkCounter()
    dependencies = BackendDependencies(
        paths=paths,
        get_settings=lambda: supervisor.settings,
        count_fork=forks,
        build_renderer=build_renderer_factory(paths, lambda: supervisor.settings),
    )
    supervisor = ServerSupervisor(
        settings,
        backends=build_backends(dependencies),
        transports=[LocalTransport()],
        forks=forks,
        epochs=epochs,
        recorder=recorder,
    )
    return supervisor


async def _prepare_store(paths: Paths, settings: Settings, store: Store, clock: Clock) -> RetentionClock:
    # Before anything is stored, because a new row would hide that the clock was set meanwhile.
    retention_clock = await RetentionClock.open(store, clock)
    # Before anything reads a stream, because it changes line numbers.
    await derive_doubtful_text(store, paths, settings, clock)
    return retention_clock


def _build_pipeline(paths: Paths, settings: Settings, store: Store, clock: Clock) -> Pipeline:
    return Pipeline(
        store.output,
        raw_dir=paths.raw_dir,
        clock=clock,
        flush_interval=settings.flush_interval,
        nonce=load_nonce(paths.nonce_file),
    )


def _find_pane_location(supervisor: ServerSupervisor, pane: PaneId) -> tuple[PaneSource, MuxPaneId] | None:
    location = supervisor.locate_pane(pane)
    return None if location is None else (location[0].server, location[1])


async def _stop_capture(services: DaemonServices, components: Components, supervisor_task: asyncio.Task[None]) -> None:
    """Stop watching servers, then stop the recorder or hand it to the next daemon."""
    await services.jobs.close()
    components.server_supervisor.stop(keep_pipes=services.keeps_recorder)
    await _wait_or_abandon(supervisor_task, components)
    # A full disk must not keep the daemon from stopping; what is not stored is still in the raw logs.
    components.write_retry.stop_retrying()
    for backend in components.server_supervisor.backends.values():
        if isinstance(backend, OwnServerBackend):
            await backend.release_server(upgrades=services.keeps_recorder)
    if services.keeps_recorder:
        await components.recorder.reexec()  # upgrades it to the installed version
        components.recorder.detach()
    else:
        await components.recorder.quit()


async def _stop_sampling(
    components: Components, sampler_tasks: list[asyncio.Task[None]], tracker_task: asyncio.Task[None]
) -> None:
    """Stop sampling screens and tracking agents, and store their last state."""
    for task in sampler_tasks:
        task.cancel()
    components.agent_tracking.tracker.stop()
    await tracker_task
    await components.sightings.record_visible(components.clock.now())


def _note_paint_activity(sampler: ScreenSampler, sightings: SightingRecorder, activity: PaintActivity) -> None:
    sampler.note_activity(activity)
    sightings.note_activity(activity)


async def _run_agent_tracking(components: Components) -> None:
    await components.server_supervisor.first_scan_done.wait()
    components.screen_sampler.agent_screens = components.agent_tracking.agent_screens
    await run_agent_tracking(components.agent_tracking, components.store, components.pipeline, components.event_log)


async def _recover_sends(services: DaemonServices, components: Components, open_sends: list[DeliveryRecord]) -> None:
    """Determine the outcome of sends that an earlier daemon left open, once the panes are known."""
    if open_sends:
        await components.server_supervisor.first_scan_done.wait()
        await components.pipeline.wait_settled()
        await services.gate_components.gate.recover(open_sends)
    services.workflows.sends_recovered.set()


async def _recover_approvals(services: DaemonServices, components: Components) -> list[Approval]:
    """Return the approval requests of an earlier daemon that are open, and keep those of agents for their dialogs."""
    # The gate's modules are loaded late, so only if there is such a request.
    if unsettled := await components.store.approvals.list_unsettled("answer_agent"):
        services.gate_components.approvals.recover(unsettled)
    # Read before clients can connect, so that each request comes either from here or from the bus, not both.
    now = components.clock.now()
    return [approval for approval in await components.store.approvals.list() if approval.expires_at > now]


def _build_notification_sender(services: DaemonServices, components: Components, actor: Actor) -> SendNotification:
    async def send_notification(notice: Notify, key: str) -> None:
        # Terminals to notify are known only after the first scan.
        await components.server_supervisor.first_scan_done.wait()
        await services.gate_components.gate.run(notice, actor, Preconditions(correlation=key))

    return send_notification


async def _wait_or_abandon(task: asyncio.Task[None], components: Components) -> None:
    """Wait for the task; if the store cannot be written, cancel it and leave its work to the next daemon."""
    while not task.done():
        await asyncio.wait([task], timeout=_SHUTDOWN_POLL_INTERVAL_S)
        if not task.done() and (problem := components.pipeline.storage_error or components.write_retry.problem):
            log.warning("the daemon stops and leaves unstored output to the next one: %s", problem)
            task.cancel()


async def _run_checkpoints(store: Store, clock: Clock) -> None:
    while True:
        await clock.sleep(_CHECKPOINT_INTERVAL_S)
        with suppress(StorageError):  # writers report storage errors
            await store.checkpoint()
