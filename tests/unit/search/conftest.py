"""A fixture that stores the rows of repainting panes."""

from collections.abc import Awaitable, Callable

import pytest

from termvisor.model.ids import EpochId, PaneId, ScreenId
from termvisor.model.terminal.screen import CapturedScreen, Screen, ScreenLifetime, ScreenRow
from termvisor.store import Store
from termvisor.terminal.row_normalization import build_row_hasher


@pytest.fixture
def show_rows(store: Store) -> Callable[..., Awaitable[ScreenId | None]]:
    """Return a function that stores rows of a repainting pane and returns the screen if a row was new."""

    async def show(pane: PaneId, *texts: str, at: int = 100, epoch: int = 1) -> ScreenId | None:
        fold = build_row_hasher(ScreenLifetime(pane, EpochId(epoch), True))
        screen = Screen(pane=pane, rows=(), width=80, height=24, alternate=True, at=at)
        (stored,) = await store.sightings.add(
            [CapturedScreen(EpochId(epoch), screen, tuple(ScreenRow(t, fold(t)) for t in texts))]
        )
        await store.sightings.record_last_seen({row.id: at for row in stored.rows if row.id})
        return stored.screen

    return show
