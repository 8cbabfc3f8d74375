"""A real store and pipeline in a private folder, with a pane in it and an epoch that has just begun."""

import pytest

from termvisor.model.terminal.output import Epoch
from termvisor.testing.private_tmux import make_short_folder
from tests.unit.capture.capture_harness import CaptureStore


@pytest.fixture
async def memory():
    with make_short_folder() as folder:
        opened = await CaptureStore(folder).open()
        yield opened
        await opened.close()


@pytest.fixture
async def pane(memory):
    return await memory.add_pane()


@pytest.fixture
async def epoch(memory, pane) -> Epoch:
    """An epoch that has just begun."""
    opened = await memory.reserve_epoch(pane)
    memory.pipeline.open_epoch(opened)
    return opened
