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


class Ears:
    """As a daemon has them: from what the store kept."""

    def __init__(self, tracker_scene, notes):
        self.hearing = SignalReader(tracker_scene.tracker, build_registry(), tracker_scene.clock)
        process = ProcessInfo(pid=101, pid_started=9, env={"TOY_HOME": str(notes.parent)})
        self.hearing.follow(tracker_scene.tracker.find_agent_in_pane(PaneId(1)), process)
        (watch,) = build_registry().list_watched_paths("toy", process)
        self.reader = AppendedLinesReader(
            watch, SystemClock(), build_read_positions(tracker_scene.tracker)(ONE, "notes")
        )
        self.scene = tracker_scene

    async def listen(self) -> list[str]:
        look = self.reader.scan(None)
        await self.hearing.read_records(look.records)
        self.reader.confirm_stored()
        await self.scene.tracker.wait_stored()
        return [record.text for record in look.records]


def append(path, text: str) -> None:
    with open(path, "a") as file:
        file.write(text)


async def test_a_state_written_without_a_daemon_is_read_by_the_next(tracker_scene, notes):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    first = Ears(tracker_scene, notes)
    assert await first.listen() == []
    append(notes, "state=working\n")
    assert await first.listen() == ["state=working"]
    assert tracker_scene.states[0].value == "running"
    await tracker_scene.kill()
    append(notes, "state=blocked\n")
    await tracker_scene.open()
    next_one = Ears(tracker_scene, notes)
    assert await next_one.listen() == ["state=blocked"]
    assert tracker_scene.states[0].value == "waiting_approval"
    await tracker_scene.restart()
    assert await Ears(tracker_scene, notes).listen() == []


async def test_read_positions_are_removed_with_their_agent(tracker_scene, notes):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    await Ears(tracker_scene, notes).listen()
    assert [one.runtime for one in (await tracker_scene.store.agent_facts.load_state()).bookmarks] == [ONE]
    late = ReadPosition(runtime=ONE, watch="notes", body=b"late")
    assert tracker_scene.tracker.submit_facts([AgentExited(at=tracker_scene.now(1), runtime=ONE)], position=late)
    await tracker_scene.tracker.wait_stored()
    assert tracker_scene.tracker.submit_facts((), position=late)
    await tracker_scene.tracker.wait_stored()
    assert (await tracker_scene.store.agent_facts.load_state()).bookmarks == ()


async def test_a_read_position_is_taken_once(tracker_scene, notes):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    await Ears(tracker_scene, notes).listen()
    await tracker_scene.restart()
    assert tracker_scene.tracker.take_read_position(ONE, "notes")
    assert (
        tracker_scene.tracker.take_read_position(ONE, "notes")
        == tracker_scene.tracker.take_read_position(RuntimeId(7), "notes")
        == b""
    )
