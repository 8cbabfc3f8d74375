"""A real store and pipeline in a private folder, with a pane in it and an epoch that has just begun."""

import pytest

from termvisor.model.terminal.output import Epoch
from termvisor.testing.tmux import short_folder
from tests.unit.capture.scene import Memory


@pytest.fixture
async def memory():
    with short_folder() as folder:
        opened = await Memory(folder).open()
        yield opened
        await opened.close()


@pytest.fixture
async def pane(memory):
    return await memory.pane()


@pytest.fixture
async def epoch(memory, pane) -> Epoch:
    """An epoch that has just begun."""
    opened = await memory.reserved(pane)
    memory.pipeline.open(opened)
    return opened
