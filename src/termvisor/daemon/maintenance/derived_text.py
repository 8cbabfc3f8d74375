"""Derive text again that an earlier version on an affected Python stored wrongly, where the raw log still exists.

Runs before capture begins: readers of open epochs know the next line number of their pane, which this changes. What
does not fit into the time is done at the next start. An epoch whose log cannot be decoded keeps its text.
"""

import asyncio
from contextlib import aclosing

from termvisor.clock import Clock
from termvisor.daemon.maintenance.progress import MaintenanceProgress
from termvisor.errors import StorageError
from termvisor.log import get_logger
from termvisor.model.terminal.output import Epoch
from termvisor.pipeline.derive_text import EpochToDerive
from termvisor.settings import Paths, Settings
from termvisor.store import Store
from termvisor.store.tables.derived_text import DerivedText
from termvisor.system.worker import stream_worker

# `visor up` waits for the daemon meanwhile.
_TIME_LIMIT_S = 10.0
_WORKER = "termvisor.pipeline.derive_text:derive_epochs"
log = get_logger("maintenance")


async def derive_doubtful_text(store: Store, paths: Paths, settings: Settings, clock: Clock) -> None:
    """Replace the text of all epochs that are listed for it. Does nothing in a current database."""
    try:
        # The epochs of one pane together, those of the newest panes first.
        epochs = sorted(await store.output.list_doubtful_epochs(), key=lambda epoch: (-epoch.pane, epoch.id))
        if not epochs:
            return
        progress = MaintenanceProgress("derive_text", clock)
        progress.rows = await _derive_epochs(store, paths, settings, epochs)
        left = len(await store.output.list_doubtful_epochs())
        detail = f"{progress.rows} lines derived again" + (f"; {left} epochs left for the next start" if left else "")
        log.info("%s", detail)
        await store.maintenance.record_run(progress.build_result(detail))
    except StorageError as error:
        # The daemon starts on a full disk too; the next start tries again.
        log.warning("text was not derived again: %s", error)


async def _derive_epochs(store: Store, paths: Paths, settings: Settings, epochs: list[Epoch]) -> int:
    """Derive epochs for a limited time; return the number of new lines."""
    items = await _build_items(store, paths, epochs)
    texts = stream_worker(_WORKER, (paths, settings, items), returns=DerivedText)
    waiting: list[DerivedText] = []
    received, lines, is_late = 0, 0, False
    try:
        async with asyncio.timeout(_TIME_LIMIT_S), aclosing(texts):
            async for text in texts:
                # A pane is renumbered as a whole, so its epochs are stored together.
                if waiting and waiting[0].pane != text.pane:
                    await store.derived_text.replace(waiting)
                    waiting = []
                waiting.append(text)
                received, lines = received + 1, lines + text.count_lines()
    except TimeoutError:
        is_late = True
    # An epoch that crashes the worker, or takes all the time alone, must not be tried at every start.
    if received < len(epochs) and not (is_late and received):
        log.warning("the text of epoch %s cannot be derived again", epochs[received].id)
        waiting.append(DerivedText(epochs[received].pane, epochs[received].id, is_complete=False))
    await store.derived_text.replace(waiting)
    return lines


async def _build_items(store: Store, paths: Paths, epochs: list[Epoch]) -> list[EpochToDerive]:
    panes = {epoch.pane for epoch in epochs}
    screens = {pane: await store.baseline_screens.find_by_pane(pane) for pane in panes}
    return [EpochToDerive(one, f"{paths.raw_dir}/{one.pane}/{one.id}", screens[one.pane].get(one.id)) for one in epochs]
