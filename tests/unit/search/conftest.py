"""A real store in a private folder, and a short way to say what panes printed."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from termvisor.clock import SystemClock
from termvisor.model.ids import MuxPaneId, PaneId, TargetName
from termvisor.model.output import Block
from termvisor.model.pane import PaneFacts, PaneInstance, ServerInstance
from termvisor.store import Progress, Store

SERVER = ServerInstance(TargetName("local"), "/tmp/tmux-1/default", 100, 5000)


@pytest.fixture
async def store(tmp_path) -> AsyncIterator[Store]:
    opened = await Store.open(str(tmp_path / "visor.db"), SystemClock())
    yield opened
    await opened.close()


@pytest.fixture
def new_pane(store: Store) -> Callable[..., Awaitable[PaneId]]:
    async def make(mux_id: str = "%1", **facts) -> PaneId:
        instance = PaneInstance(SERVER, MuxPaneId(mux_id))
        pane, _ = await store.panes.recognise(instance, PaneFacts(mux_id=MuxPaneId(mux_id), pid=7, **facts), at=10)
        return pane

    return make


@pytest.fixture
def write_lines(store: Store) -> Callable[..., Awaitable[int]]:
    """Stores lines as one block in a new epoch of the pane, from ``at`` to ``until``; the last line's number."""

    async def write(pane: PaneId, *lines: str, at: int = 100, until: int | None = None) -> int:
        epoch = await store.output.open_epoch(pane, "pipe", at)
        block = Block(epoch=epoch, start=0, end=9, at=at, until=at if until is None else until, lines=lines)
        last = await store.output.commit([Progress(pane=pane, epoch=epoch, committed=9, blocks=(block,))])
        return last[pane]

    return write
