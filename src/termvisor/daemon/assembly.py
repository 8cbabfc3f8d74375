"""The composition root: the one place where the parts of the daemon are made and joined."""

import asyncio
import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import partial

from termvisor import __version__
from termvisor.backends.tmux.pane_source import TmuxServer
from termvisor.capture.epochs import Epochs
from termvisor.capture.event_log import Chronicle
from termvisor.capture.raw_log import highest
from termvisor.capture.recorder_client import News, RecorderLink
from termvisor.capture.screen_sampler import Eyes
from termvisor.capture.server_supervisor import Lookout
from termvisor.capture.server_watcher import Kit
from termvisor.clock import Clock, SystemClock
from termvisor.daemon.acting import event_notifications as event_news
from termvisor.daemon.acting.approval_notifications import myself, tell_of_questions
from termvisor.daemon.acting.permission_requests import Pleading
from termvisor.daemon.agents.assembly import attend, connect, seeing
from termvisor.daemon.agents.assembly import run as run_attending
from termvisor.daemon.agents.failure_monitor import Minding
from termvisor.daemon.components import Parts
from termvisor.daemon.maintenance.memory_trim import Resting
from termvisor.daemon.rules.active_rules import Ruling
from termvisor.daemon.rules.precompile import warm_rules
from termvisor.daemon.services.services import LiveWorld
from termvisor.errors import StorageError
from termvisor.log import logger
from termvisor.model.action.action import Notify
from termvisor.model.action.approval import Approval
from termvisor.model.action.delivery import Send
from termvisor.model.action.preconditions import Terms
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.pipeline import Pipeline, Sightings
from termvisor.redaction import use as use_rules
from termvisor.settings import Places, Settings, nonce
from termvisor.store import Store
from termvisor.store.sqlite.retrying_database import Patience

_CHECKPOINT_FOR = 60.0
_SETTLE_FOR = 1.0
log = logger("daemon")


@asynccontextmanager
async def open_world(places: Places, settings: Settings) -> AsyncIterator[LiveWorld]:
    """A watching daemon, from its database to its last epoch; everything is closed again at the end."""
    clock = SystemClock()
    use_rules(await warm_rules(places, settings))
    store = await Store.open(places.database, clock)
    try:
        parts = await _join(places, settings, store, clock)
        await store.approvals.withdraw_left("answer_agent")
        async with asyncio.TaskGroup() as group:
            flow = group.create_task(parts.pipeline.run())
            resting = Resting(store, clock, lambda: parts.pipeline.bytes_heard)
            tidy = [group.create_task(_checkpoints(store, clock)), group.create_task(resting.run())]
            looking = [group.create_task(parts.eyes.run()), group.create_task(parts.sightings.run())]
            knowing = group.create_task(parts.attending.knowing.run())
            watching = group.create_task(parts.lookout.run())
            looking.append(group.create_task(_attend(parts)))
            await parts.chronicle.tell("daemon_started", version=__version__, pid=os.getpid())
            world = LiveWorld(parts)
            caretaker = world.upkeep.caretaker
            group.create_task(_recover(world, parts, await store.sends.open()))
            keeping = [group.create_task(one) for one in _keeping(world, parts, await _left_open(parts))]
            try:
                yield world
            finally:
                parts.lookout.stop(keep_pipes=world.keeps_recorder)
                await _end_of(watching, parts)
                parts.patience.end()
                await _part(parts.recorder, keep=world.keeps_recorder)
                await _end_of(group.create_task(parts.pipeline.settle()), parts)
                await _stop_looking(parts, looking, knowing)
                with suppress(StorageError):
                    await parts.chronicle.tell("daemon_stopped")
                for task in keeping:
                    task.cancel()
                await caretaker.leave()
                for task in (flow, *tidy):
                    task.cancel()
    finally:
        await store.close()


def _keeping(world: LiveWorld, parts: Parts, left: list[Approval]) -> list[Coroutine[None, None, None]]:
    """What goes on beside all else for as long as the daemon does."""
    caretaker = world.upkeep.caretaker
    return [
        caretaker.run(),
        caretaker.run_snapshots(),
        _tell_of_questions(world, parts, left),
        world.runs.run(),
        world.accounts.run(),
        parts.ruling.run(),
        _tell_of_events(world, parts),
        world.agents.drifting.run(),
        Pleading(parts, lambda: world.behind).run(),
        Minding(parts).run(),
    ]


async def _join(places: Places, settings: Settings, store: Store, clock: Clock) -> Parts:
    patience = Patience(clock)
    chronicle = Chronicle(store.events, clock, patience)
    pipeline = _pipeline(places, settings, store, clock)

    def tell(item: News) -> None:
        lookout.news(item)

    pipeline.events = chronicle.news
    ruling = Ruling(pipeline.spotter, places)
    await ruling.take_up(settings)
    recorder = RecorderLink(places, settings, tell)
    epochs = Epochs(store.waiting(patience), pipeline, chronicle, clock)
    kit = Kit(epochs, recorder, settings, lambda: pipeline.bytes_heard)
    lookout = Lookout(kit, places)
    sightings = Sightings(store, pipeline, clock)
    attending = await attend(store, chronicle, clock, places, settings)
    connect(attending, pipeline, lookout, partial(_place_of, lookout))
    eyes = Eyes(clock, partial(_place_of, lookout), seeing(attending.gaze, sightings))
    pipeline.stirred = eyes.stirred
    await store.keeping.reserve(*highest(places.raw_dir))
    await recorder.start()
    return Parts(
        store,
        pipeline,
        chronicle,
        lookout,
        recorder,
        eyes,
        sightings,
        clock,
        places,
        settings,
        patience,
        attending,
        ruling,
    )


def _pipeline(places: Places, settings: Settings, store: Store, clock: Clock) -> Pipeline:
    return Pipeline(
        store.output,
        raw_dir=places.raw_dir,
        clock=clock,
        flush_for=settings.flush_interval,
        nonce=nonce(places.nonce_file),
    )


def _place_of(lookout: Lookout, pane: PaneId) -> tuple[TmuxServer, MuxPaneId] | None:
    place = lookout.place_of(pane)
    return None if place is None else (place[0].server, place[1])


async def _stop_looking(parts: Parts, looking: list[asyncio.Task[None]], knowing: asyncio.Task[None]) -> None:
    """What was seen and heard up to now is stored."""
    for task in looking:
        task.cancel()
    parts.attending.knowing.end()
    await knowing
    await parts.sightings.note()


async def _attend(parts: Parts) -> None:
    await parts.lookout.has_looked.wait()
    await run_attending(parts.attending, parts.store, parts.pipeline, parts.chronicle)


async def _recover(world: LiveWorld, parts: Parts, left: list[Send]) -> None:
    """Texts that were on their way when an earlier daemon ended are looked at, once the panes are known."""
    if left:
        await parts.lookout.has_looked.wait()
        await parts.pipeline.settle()
        await world.behind.gate.recover(left)
    world.runs.recovered.set()


async def _left_open(parts: Parts) -> list[Approval]:
    """Questions of an earlier daemon that can still be answered."""
    return [one for one in await parts.store.approvals.list() if one.expires_at > parts.clock.now()]


async def _tell_of_questions(world: LiveWorld, parts: Parts, left: list[Approval]) -> None:
    async def tell(notice: Notify, key: str) -> None:
        await parts.lookout.has_looked.wait()
        await world.behind.gate.do(notice, myself(), Terms(correlation=key))

    await tell_of_questions(parts.questions, lambda: parts.settings.notify_ways, tell, left)


async def _tell_of_events(world: LiveWorld, parts: Parts) -> None:
    async def tell(notice: Notify, key: str) -> None:
        await world.behind.gate.do(notice, event_news.myself(), Terms(correlation=key))

    ground = event_news.Ground(parts.chronicle.news, parts.store, lambda: parts.settings, tell, parts.clock)
    await event_news.EventNews(ground).run()


async def _part(recorder: RecorderLink, *, keep: bool) -> None:
    """A recorder that goes on becomes the program that is installed now: this is how it is upgraded."""
    if keep:
        await recorder.reexec()
        recorder.leave()
    else:
        await recorder.quit()


async def _end_of(task: asyncio.Task[None], parts: Parts) -> None:
    """Wait for it, unless nothing can be stored: then all stays open for the next daemon, as after a crash."""
    while not task.done():
        await asyncio.wait([task], timeout=_SETTLE_FOR)
        if not task.done() and (trouble := parts.pipeline.trouble or parts.patience.trouble):
            log.warning("the daemon ends with work left for the next one: %s", trouble)
            task.cancel()


async def _checkpoints(store: Store, clock: Clock) -> None:
    while True:
        await clock.sleep(_CHECKPOINT_FOR)
        with suppress(StorageError):  # it is told by who writes
            await store.checkpoint()
