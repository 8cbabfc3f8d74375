"""A store that is being filled, and ears on a real server; all are closed with the test."""

from collections.abc import AsyncIterator

import pytest

from termvisor.testing.private_tmux import PrivateTmux
from tests.unit.capture.capture_harness import CaptureHarness, CaptureStore, WatcherHarness


@pytest.fixture
async def memory(folder: str) -> AsyncIterator[CaptureStore]:
    opened = await CaptureStore(folder).open()
    yield opened
    await opened.close()


@pytest.fixture
def cat(tmux: PrivateTmux) -> str:
    """A pane that repeats what is typed; tmux's id of it."""
    return tmux.start_session(command="cat")


@pytest.fixture
async def ears(memory: CaptureStore, tmux: PrivateTmux, cat: str) -> AsyncIterator[CaptureHarness]:
    opened = await CaptureHarness(memory, tmux).open()
    yield opened
    await opened.close()


@pytest.fixture
async def watching(memory: CaptureStore, tmux: PrivateTmux) -> AsyncIterator[WatcherHarness]:
    """Not running yet: `watch` or `look` starts it."""
    made = WatcherHarness(memory, tmux.socket)
    yield made
    await made.leave()
    await made.recorder.quit()
