"""Fixtures: a running capture store and captures of a real tmux server, closed after the test."""

from collections.abc import AsyncIterator

import pytest

from termvisor.testing.private_tmux import PrivateTmux
from tests.unit.capture.capture_harness import CaptureHarness, CaptureStore, WatcherHarness


@pytest.fixture
async def capture_store(folder: str) -> AsyncIterator[CaptureStore]:
    opened = await CaptureStore(folder).open()
    yield opened
    await opened.close()


@pytest.fixture
def cat(tmux: PrivateTmux) -> str:
    """The tmux id of a pane that runs `cat`."""
    return tmux.start_session(command="cat")


@pytest.fixture
async def harness(capture_store: CaptureStore, tmux: PrivateTmux, cat: str) -> AsyncIterator[CaptureHarness]:
    opened = await CaptureHarness(capture_store, tmux).open()
    yield opened
    await opened.close()


@pytest.fixture
async def watching(capture_store: CaptureStore, tmux: PrivateTmux) -> AsyncIterator[WatcherHarness]:
    """A harness that watch_server() or start_supervisor() starts."""
    harness = WatcherHarness(capture_store, tmux.socket)
    yield harness
    await harness.leave()
    await harness.recorder.quit()
