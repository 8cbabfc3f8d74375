"""Fixtures: a real store and pipeline with a pane and a new epoch."""

import pytest

from termvisor.model.terminal.output import Epoch
from termvisor.testing.private_tmux import make_short_folder
from tests.unit.capture.capture_harness import CaptureStore


@pytest.fixture
async def capture_store():
    with make_short_folder() as folder:
        opened = await CaptureStore(folder).open()
        yield opened
        await opened.close()


@pytest.fixture
async def pane(capture_store):
    return await capture_store.add_pane()


@pytest.fixture
async def epoch(capture_store, pane) -> Epoch:
    """An epoch that has just begun."""
    opened = await capture_store.reserve_epoch(pane)
    capture_store.pipeline.open_epoch(opened)
    return opened
