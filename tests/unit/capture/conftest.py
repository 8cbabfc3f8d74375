"""A store that is being filled, and ears on a real server; all are closed with the test."""

from collections.abc import AsyncIterator

import pytest

from termvisor.testing.tmux import PrivateTmux
from tests.unit.capture.scene import Listening, Memory, Watching


@pytest.fixture
async def memory(folder: str) -> AsyncIterator[Memory]:
    opened = await Memory(folder).open()
    yield opened
    await opened.close()


@pytest.fixture
def cat(tmux: PrivateTmux) -> str:
    """A pane that repeats what is typed; tmux's id of it."""
    return tmux.start(command="cat")


@pytest.fixture
async def ears(memory: Memory, tmux: PrivateTmux, cat: str) -> AsyncIterator[Listening]:
    opened = await Listening(memory, tmux).open()
    yield opened
    await opened.close()


@pytest.fixture
async def watching(memory: Memory, tmux: PrivateTmux) -> AsyncIterator[Watching]:
    """Not running yet: `watch` or `look` starts it."""
    made = Watching(memory, tmux.socket)
    yield made
    await made.leave()
    await made.recorder.quit()
