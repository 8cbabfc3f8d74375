"""The composition root: the one place where the parts of the daemon are made and joined."""

import asyncio
import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import partial

from termvisor import __version__
from termvisor.backends.tmux.pane_source import TmuxServer
from termvisor.capture.epochs import EpochLifecycle
from termvisor.capture.event_log import EventLog
from termvisor.capture.raw_log import find_highest_ids
from termvisor.capture.recorder_client import RecorderClient, RecorderUpdate
from termvisor.capture.screen_sampler import ScreenSampler
from termvisor.capture.server_supervisor import ServerSupervisor
from termvisor.capture.server_watcher import WatcherDependencies
from termvisor.clock import Clock, SystemClock
from termvisor.daemon.acting import event_notifications
from termvisor.daemon.acting.approval_notifications import build_actor, notify_approvals
from termvisor.daemon.acting.permission_request_watcher import PermissionRequestWatcher
from termvisor.daemon.agents.assembly import build_agent_tracking, build_screen_consumer, connect_capture
from termvisor.daemon.agents.assembly import run_agent_tracking as run_attending
from termvisor.daemon.agents.failure_monitor import FailureMonitor
from termvisor.daemon.components import Components
from termvisor.daemon.maintenance.memory_trim import MemoryTrimmer
from termvisor.daemon.rules.active_rules import ActiveRules
from termvisor.daemon.rules.precompile import load_redaction_rules
from termvisor.daemon.services.services import DaemonServices
from termvisor.errors import StorageError
from termvisor.log import get_logger
from termvisor.model.action.action import Notify
from termvisor.model.action.approval import Approval
from termvisor.model.action.delivery import DeliveryRecord
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.pipeline import Pipeline, SightingRecorder
from termvisor.redaction import use_rules
from termvisor.settings import Paths, Settings, load_nonce
from termvisor.store import Store
from termvisor.store.sqlite.retrying_database import WriteRetry

_CHECKPOINT_INTERVAL_S = 60.0
_SHUTDOWN_POLL_INTERVAL_S = 1.0
log = get_logger("daemon")


@asynccontextmanager
async def open_services(paths: Paths, settings: Settings) -> AsyncIterator[DaemonServices]:
    """A watching daemon, from its database to its last epoch; everything is closed again at the end."""
    clock = SystemClock()
    use_rules(await load_redaction_rules(paths, settings))
    store = await Store.open(paths.database, clock)
    try:
        parts = await _build_components(paths, settings, store, clock)
        await store.approvals.withdraw_leftover("answer_agent")
        async with asyncio.TaskGroup() as group:
            flow = group.create_task(parts.pipeline.run())
            resting = MemoryTrimmer(store, clock, lambda: parts.pipeline.captured_bytes)
            tidy = [group.create_task(_run_checkpoints(store, clock)), group.create_task(resting.run())]
            looking = [group.create_task(parts.screen_sampler.run()), group.create_task(parts.sightings.run())]
            knowing = group.create_task(parts.agent_tracking.tracker.run())
            watching = group.create_task(parts.server_supervisor.run())
            looking.append(group.create_task(_run_agent_tracking(parts)))
            await parts.event_log.emit("daemon_started", version=__version__, pid=os.getpid())
            world = DaemonServices(parts)
            caretaker = world.maintenance.scheduler
            group.create_task(_recover_sends(world, parts, await store.deliveries.list_open()))
            keeping = [
                group.create_task(one) for one in _list_background_jobs(world, parts, await _list_open_approvals(parts))
            ]
            try:
                yield world
            finally:
                parts.server_supervisor.stop(keep_pipes=world.keeps_recorder)
                await _wait_or_abandon(watching, parts)
                parts.write_retry.stop_retrying()
                await _release_recorder(parts.recorder, keep_running=world.keeps_recorder)
                await _wait_or_abandon(group.create_task(parts.pipeline.wait_settled()), parts)
                await _stop_sampling(parts, looking, knowing)
                with suppress(StorageError):
                    await parts.event_log.emit("daemon_stopped")
                for task in keeping:
                    task.cancel()
                await caretaker.make_final_snapshot()
                for task in (flow, *tidy):
                    task.cancel()
    finally:
        await store.close()


def _list_background_jobs(
    services: DaemonServices, components: Components, open_approvals: list[Approval]
) -> list[Coroutine[None, None, None]]:
    """What goes on beside all else for as long as the daemon does."""
    caretaker = services.maintenance.scheduler
    return [
        caretaker.run(),
        caretaker.run_snapshots(),
        _notify_approvals(services, components, open_approvals),
        services.workflows.run(),
        services.accounts.run(),
        components.active_rules.run(),
        _notify_events(services, components),
        services.agents.drift_monitor.run(),
        PermissionRequestWatcher(components, lambda: services.gate_components).run(),
        FailureMonitor(components).run(),
    ]


async def _build_components(paths: Paths, settings: Settings, store: Store, clock: Clock) -> Components:
    patience = WriteRetry(clock)
    chronicle = EventLog(store.events, clock, patience)
    pipeline = _build_pipeline(paths, settings, store, clock)

    def forward_recorder_news(item: RecorderUpdate) -> None:
        lookout.handle_recorder_update(item)

    pipeline.events = chronicle.events
    ruling = ActiveRules(pipeline.matcher, paths)
    await ruling.load(settings)
    recorder = RecorderClient(paths, settings, forward_recorder_news)
    epochs = EpochLifecycle(store.with_write_retry(patience), pipeline, chronicle, clock)
    kit = WatcherDependencies(epochs, recorder, settings, lambda: pipeline.captured_bytes)
    lookout = ServerSupervisor(kit, paths)
    sightings = SightingRecorder(store, pipeline, clock)
    attending = await build_agent_tracking(store, chronicle, clock, paths, settings)
    connect_capture(attending, pipeline, lookout, partial(_find_pane_location, lookout))
    eyes = ScreenSampler(
        clock, partial(_find_pane_location, lookout), build_screen_consumer(attending.screen_sampler, sightings)
    )
    pipeline.on_paint_activity = eyes.note_activity
    await store.maintenance.reserve_ids(*find_highest_ids(paths.raw_dir))
    await recorder.start()
    return Components(
        store,
        pipeline,
        chronicle,
        lookout,
        recorder,
        eyes,
        sightings,
        clock,
        paths,
        settings,
        patience,
        attending,
        ruling,
    )


def _build_pipeline(paths: Paths, settings: Settings, store: Store, clock: Clock) -> Pipeline:
    return Pipeline(
        store.output,
        raw_dir=paths.raw_dir,
        clock=clock,
        flush_interval=settings.flush_interval,
        nonce=load_nonce(paths.nonce_file),
    )


def _find_pane_location(supervisor: ServerSupervisor, pane: PaneId) -> tuple[TmuxServer, MuxPaneId] | None:
    place = supervisor.locate_pane(pane)
    return None if place is None else (place[0].server, place[1])


async def _stop_sampling(
    components: Components, sampler_tasks: list[asyncio.Task[None]], tracker_task: asyncio.Task[None]
) -> None:
    """What was seen and heard up to now is stored."""
    for task in sampler_tasks:
        task.cancel()
    components.agent_tracking.tracker.stop()
    await tracker_task
    await components.sightings.flush_seen_times()


async def _run_agent_tracking(components: Components) -> None:
    await components.server_supervisor.first_scan_done.wait()
    await run_attending(components.agent_tracking, components.store, components.pipeline, components.event_log)


async def _recover_sends(services: DaemonServices, components: Components, open_sends: list[DeliveryRecord]) -> None:
    """Texts that were on their way when an earlier daemon ended are looked at, once the panes are known."""
    if open_sends:
        await components.server_supervisor.first_scan_done.wait()
        await components.pipeline.wait_settled()
        await services.gate_components.gate.recover(open_sends)
    services.workflows.sends_recovered.set()


async def _list_open_approvals(components: Components) -> list[Approval]:
    """Questions of an earlier daemon that can still be answered."""
    return [one for one in await components.store.approvals.list() if one.expires_at > components.clock.now()]


async def _notify_approvals(services: DaemonServices, components: Components, open_approvals: list[Approval]) -> None:
    async def send_notification(notice: Notify, key: str) -> None:
        await components.server_supervisor.first_scan_done.wait()
        await services.gate_components.gate.run(notice, build_actor(), Preconditions(correlation=key))

    await notify_approvals(
        components.approval_bus, lambda: components.settings.notify_ways, send_notification, open_approvals
    )


async def _notify_events(services: DaemonServices, components: Components) -> None:
    async def send_notification(notice: Notify, key: str) -> None:
        await services.gate_components.gate.run(
            notice, event_notifications.build_actor(), Preconditions(correlation=key)
        )

    ground = event_notifications.EventNotifierDependencies(
        components.event_log.events, components.store, lambda: components.settings, send_notification, components.clock
    )
    await event_notifications.EventNotifier(ground).run()


async def _release_recorder(recorder: RecorderClient, *, keep_running: bool) -> None:
    """A recorder that goes on becomes the program that is installed now: this is how it is upgraded."""
    if keep_running:
        await recorder.reexec()
        recorder.detach()
    else:
        await recorder.quit()


async def _wait_or_abandon(task: asyncio.Task[None], components: Components) -> None:
    """Wait for it, unless nothing can be stored: then all stays open for the next daemon, as after a crash."""
    while not task.done():
        await asyncio.wait([task], timeout=_SHUTDOWN_POLL_INTERVAL_S)
        if not task.done() and (trouble := components.pipeline.storage_error or components.write_retry.problem):
            log.warning("the daemon ends with work left for the next one: %s", trouble)
            task.cancel()


async def _run_checkpoints(store: Store, clock: Clock) -> None:
    while True:
        await clock.sleep(_CHECKPOINT_INTERVAL_S)
        with suppress(StorageError):  # it is told by who writes
            await store.checkpoint()
