"""The composition root: the one place where the parts of the daemon are made and joined."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from termvisor import __version__
from termvisor.clock import Clock, SystemClock
from termvisor.daemon.warm import warm_rules
from termvisor.daemon.world import LiveWorld, Parts
from termvisor.ingest.chronicle import Chronicle
from termvisor.ingest.epochs import Epochs
from termvisor.ingest.lookout import Lookout
from termvisor.ingest.recording import News, RecorderLink
from termvisor.ingest.watch import Kit
from termvisor.pipeline import Pipeline
from termvisor.redact import use as use_rules
from termvisor.settings import Places, Settings
from termvisor.store import Store

_CHECKPOINT_FOR = 60.0


@asynccontextmanager
async def open_world(places: Places, settings: Settings) -> AsyncIterator[LiveWorld]:
    """A watching daemon, from its database to its last epoch; everything is closed again at the end."""
    clock = SystemClock()
    use_rules(await warm_rules(places, settings))
    store = await Store.open(places.database, clock)
    try:
        parts = await _join(places, settings, store, clock)
        async with asyncio.TaskGroup() as group:
            flow = group.create_task(parts.pipeline.run())
            tidy = group.create_task(_checkpoints(store, clock))
            watching = group.create_task(parts.lookout.run())
            await parts.chronicle.tell("daemon_started", version=__version__, pid=os.getpid())
            world = LiveWorld(parts)
            try:
                yield world
            finally:
                parts.lookout.stop(keep_pipes=world.keeps_recorder)
                await watching
                await _part(parts.recorder, keep=world.keeps_recorder)
                await parts.pipeline.settle()
                await parts.chronicle.tell("daemon_stopped")
                flow.cancel()
                tidy.cancel()
    finally:
        await store.close()


async def _join(places: Places, settings: Settings, store: Store, clock: Clock) -> Parts:
    chronicle = Chronicle(store.events, clock)
    pipeline = Pipeline(
        store.output,
        raw_dir=places.raw_dir,
        clock=clock,
        flush_for=settings.flush_interval,
        nonce=nonce(places.nonce_file),
    )

    def tell(item: News) -> None:
        lookout.news(item)

    recorder = RecorderLink(places, settings, tell)
    kit = Kit(Epochs(store, pipeline, chronicle, clock), recorder, settings, lambda: pipeline.bytes_heard)
    lookout = Lookout(kit, places)
    await recorder.start()
    return Parts(store, pipeline, chronicle, lookout, recorder, clock, places, settings)


async def _part(recorder: RecorderLink, *, keep: bool) -> None:
    """A recorder that goes on becomes the program that is installed now: this is how it is upgraded."""
    if keep:
        await recorder.reexec()
        recorder.leave()
    else:
        await recorder.quit()


async def _checkpoints(store: Store, clock: Clock) -> None:
    while True:
        await clock.sleep(_CHECKPOINT_FOR)
        await store.checkpoint()


def nonce(path: str) -> str:
    """The sign by which our shells' marks are known; made once, readable by this user only."""
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except FileNotFoundError:
        fresh = os.urandom(16).hex()
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(fresh + "\n")
        return fresh
