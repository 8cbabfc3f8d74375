"""Read positions in a real store: the next daemon reads what was written without one."""

import pytest

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.sources.appended_lines import AppendedLinesReader
from termvisor.agents.tracking.signal_reader import SignalReader
from termvisor.clock import SystemClock
from termvisor.daemon.agents.assembly import build_read_positions
from termvisor.model.agent.agent_process import AgentExited
from termvisor.model.agent.signal import ReadPosition
from termvisor.model.ids import PaneId, RuntimeId
from tests.unit.agents.tracking.tracker_scene import ONE, build_agent_started, build_registry


@pytest.fixture
def notes(tmp_path):
    path = tmp_path / "notes" / "a.log"
    path.parent.mkdir()
    path.write_text("state=error\n")
    return path


class DaemonReader:
    """The signal reader and file reader of a daemon, at the stored positions."""

    def __init__(self, tracker_scene, notes):
        self.signal_reader = SignalReader(tracker_scene.tracker, build_registry(), tracker_scene.clock)
        process = ProcessInfo(pid=101, pid_started=9, env={"TOY_HOME": str(notes.parent)})
        self.signal_reader.follow(tracker_scene.tracker.find_agent_in_pane(PaneId(1)), process)
        (watch,) = build_registry().list_watched_paths("toy", process)
        self.reader = AppendedLinesReader(
            watch, SystemClock(), build_read_positions(tracker_scene.tracker)(ONE, "notes")
        )
        self.scene = tracker_scene

    async def read_new_lines(self) -> list[str]:
        result = self.reader.scan(None)
        await self.signal_reader.read_records(result.records)
        self.reader.confirm_stored()
        await self.scene.tracker.wait_stored()
        return [record.text for record in result.records]


def append(path, text: str) -> None:
    with open(path, "a") as file:
        file.write(text)


async def test_a_state_written_without_a_daemon_is_read_by_the_next(tracker_scene, notes):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    first = DaemonReader(tracker_scene, notes)
    assert await first.read_new_lines() == []
    append(notes, "state=working\n")
    assert await first.read_new_lines() == ["state=working"]
    assert tracker_scene.states[0].value == "running"
    await tracker_scene.kill()
    append(notes, "state=blocked\n")
    await tracker_scene.open()
    next_one = DaemonReader(tracker_scene, notes)
    assert await next_one.read_new_lines() == ["state=blocked"]
    assert tracker_scene.states[0].value == "waiting_approval"
    await tracker_scene.restart()
    assert await DaemonReader(tracker_scene, notes).read_new_lines() == []


async def test_read_positions_are_removed_with_their_agent(tracker_scene, notes):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    await DaemonReader(tracker_scene, notes).read_new_lines()
    assert [one.runtime for one in (await tracker_scene.store.agent_facts.load_state()).bookmarks] == [ONE]
    late = ReadPosition(runtime=ONE, watch="notes", body=b"late")
    assert tracker_scene.tracker.submit_facts([AgentExited(at=tracker_scene.now(1), runtime=ONE)], position=late)
    await tracker_scene.tracker.wait_stored()
    assert tracker_scene.tracker.submit_facts((), position=late)
    await tracker_scene.tracker.wait_stored()
    assert (await tracker_scene.store.agent_facts.load_state()).bookmarks == ()


async def test_a_read_position_is_taken_once(tracker_scene, notes):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    await DaemonReader(tracker_scene, notes).read_new_lines()
    await tracker_scene.restart()
    assert tracker_scene.tracker.take_read_position(ONE, "notes")
    assert (
        tracker_scene.tracker.take_read_position(ONE, "notes")
        == tracker_scene.tracker.take_read_position(RuntimeId(7), "notes")
        == b""
    )
