"""An agent tracker with two panes in its store."""

from collections.abc import AsyncIterator

import pytest

from termvisor.model.ids import MuxPaneId, TargetName
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, ServerInstance
from tests.unit.agents.tracking.tracker_scene import TrackerScene, open_tracker_scene

SERVER = ServerInstance(TargetName("local"), "/tmp/tmux-1/default", 100, 5000)


@pytest.fixture
async def tracker_scene(tmp_path) -> AsyncIterator[TrackerScene]:
    async with open_tracker_scene(str(tmp_path / "visor.db")) as one:
        for name in map(MuxPaneId, ("%1", "%2")):
            await one.store.panes.find_or_add(PaneInstance(SERVER, name), PaneFacts(mux_id=name, pid=7), one.now())
        yield one
