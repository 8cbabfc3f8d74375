"""Fixtures of the unit tests: a short private folder with a real tmux, a daemon and a real store."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest

from termvisor.clock import SystemClock
from termvisor.model.ids import MuxPaneId, PaneId, TargetName
from termvisor.model.terminal.output import TextBlock
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, ServerInstance
from termvisor.settings import Paths
from termvisor.store import EpochUpdate, Store
from termvisor.testing.private_tmux import PrivateTmux, make_short_folder, run_private_tmux
from tests.unit.fake_daemon import run_fake_daemon

SERVER = ServerInstance(TargetName("local"), "/tmp/tmux-1/default", 100, 5000)


@pytest.fixture
def folder() -> Iterator[str]:
    with make_short_folder() as path:
        yield path


@pytest.fixture
def tmux(folder: str) -> Iterator[PrivateTmux]:
    with run_private_tmux(folder) as server:
        yield server


@pytest.fixture
def daemon(folder: str) -> Iterator[Paths]:
    """A daemon process with fake services."""
    with run_fake_daemon(folder) as places:
        yield places


@pytest.fixture
async def store(tmp_path) -> AsyncIterator[Store]:
    opened = await Store.open(str(tmp_path / "visor.db"), SystemClock())
    yield opened
    await opened.close()


@pytest.fixture
def new_pane(store: Store) -> Callable[..., Awaitable[PaneId]]:
    async def make(mux_id: str = "%1", **facts) -> PaneId:
        instance = PaneInstance(SERVER, MuxPaneId(mux_id))
        pane, _ = await store.panes.find_or_add(instance, PaneFacts(mux_id=MuxPaneId(mux_id), pid=7, **facts), at=10)
        return pane

    return make


@pytest.fixture
def write_lines(store: Store) -> Callable[..., Awaitable[int]]:
    """Return a function that stores lines as one block in a new epoch and returns the last line number."""

    async def write(pane: PaneId, *lines: str, at: int = 100, until: int | None = None) -> int:
        epoch = await store.output.open_epoch(pane, "pipe", at)
        block = TextBlock(epoch=epoch, start=0, end=9, at=at, until=at if until is None else until, lines=lines)
        last = await store.output.commit([EpochUpdate(pane=pane, epoch=epoch, committed=9, blocks=(block,))])
        return last.last_lines[pane]

    return write
