"""Printed JSON lines count only if the agent is proven to have printed them."""

import json

import pytest

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.adapters.codex import ADAPTER
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.printed_json import PrintedJsonReader
from termvisor.model.ids import PaneId
from termvisor.pipeline.json_lines import PrintedLine
from tests.unit.agents.tracking.test_signal_reader import build_epoch
from tests.unit.agents.tracking.tracker_scene import ONE, build_agent_started

THREAD, OTHER = "01a1e3ce-a7c5-79e1-ab79-1720296fd10f", "01a1e3ce-a7c5-79e1-ab79-000000000000"
RUN = ProcessInfo(pid=101, pid_started=9, argv=("codex", "exec", "--json", "fix it"))
USED = {"input_tokens": 1500, "output_tokens": 25}
STARTED, WORK, DONE = {"type": "thread.started", "thread_id": THREAD}, {"type": "turn.started"}, "turn.completed"


class TerminalScene:
    """A pane in which the agent has the terminal (True), another program (False), or no live process (None)."""

    def __init__(self, tracker_scene):
        self.scene, self.has_terminal, self._end = tracker_scene, True, 0
        tracker_scene.tracker.config.thresholds.sources["codex"] = ADAPTER.sources
        self.reader = PrintedJsonReader(tracker_scene.tracker, AdapterRegistry(lambda: [ADAPTER]), tracker_scene.clock)
        self.reader.has_terminal = lambda runtime: self.has_terminal

    def print_events(self, *events, after: float = 1) -> None:
        lines = [PrintedLine(self.scene.now(after), self._next(), json.dumps(one)) for one in events]
        self.reader.read_lines(build_epoch(self.scene), lines)

    async def start_agent(self, process: ProcessInfo = RUN) -> None:
        await self.scene.submit(build_agent_started(self.scene.now(), agent="codex"))
        self.reader.follow(self.scene.tracker.find_agent_in_pane(PaneId(1)), process)

    async def state(self) -> str:
        await self.scene.tracker.wait_stored()
        return self.scene.states[0].value

    @property
    def session(self):
        return self.scene.tracker.get_session(ONE)

    def _next(self) -> int:
        self._end += 10
        return self._end


@pytest.fixture
def terminal(tracker_scene) -> TerminalScene:
    return TerminalScene(tracker_scene)


async def test_a_run_has_states_a_session_and_tokens(terminal):
    await terminal.start_agent()
    terminal.print_events(STARTED, WORK)
    assert await terminal.state() == "running"
    assert terminal.session.external_id == THREAD
    terminal.print_events({"type": DONE, "usage": USED})
    assert await terminal.state() == "completed"
    assert terminal.session.usage.total == 1525


async def test_lines_before_the_identification_count(terminal):
    terminal.print_events({"type": "thread.started", "thread_id": OTHER}, after=-1)
    terminal.print_events(STARTED, WORK, after=0.1)
    await terminal.start_agent()
    assert await terminal.state() == "running"
    assert terminal.session.external_id == THREAD


async def test_a_file_printed_by_another_program_does_not_count(terminal):
    """Another program prints the file while a run of the agent continues in the background."""
    terminal.has_terminal = False
    terminal.print_events(STARTED, after=0.1)
    await terminal.start_agent()
    terminal.print_events(STARTED, WORK, {"type": DONE, "usage": USED})
    assert await terminal.state() == "unknown"
    assert (terminal.session.external_id, terminal.session.usage.total) == ("", None)


async def test_an_agent_that_does_not_print_json_does_not_count(terminal):
    await terminal.start_agent(ProcessInfo(pid=101, pid_started=9, argv=("codex", "exec", "fix it")))
    terminal.print_events(STARTED, WORK)
    assert await terminal.state() == "unknown"


async def test_only_the_first_session_counts(terminal):
    await terminal.start_agent()
    terminal.print_events(STARTED, {"type": "thread.started", "thread_id": OTHER}, WORK)
    assert await terminal.state() == "running"
    assert terminal.session.external_id == THREAD


async def test_lines_after_a_late_identification_count(terminal):
    await terminal.start_agent()
    terminal.print_events({"type": "item.started", "item": {"type": "reasoning"}})
    assert await terminal.state() == "running"


async def test_nothing_counts_after_the_end_of_the_turn(terminal):
    await terminal.start_agent()
    terminal.print_events(STARTED, WORK, {"type": DONE, "usage": USED})
    terminal.print_events({"type": "turn.failed", "error": {"message": "usage limit"}})
    assert await terminal.state() == "completed"


async def test_the_end_of_a_run_is_unread_until_its_turn_ends(terminal):
    await terminal.start_agent()
    agent_process = terminal.scene.tracker.find_agent_in_pane(ONE)
    terminal.print_events(STARTED, WORK)
    assert terminal.reader.has_unread_end(agent_process)
    terminal.print_events({"type": DONE, "usage": USED})
    assert not terminal.reader.has_unread_end(agent_process)


async def test_a_run_without_the_terminal_has_no_unread_end(terminal):
    terminal.has_terminal = False
    await terminal.start_agent()
    assert not terminal.reader.has_unread_end(terminal.scene.tracker.find_agent_in_pane(ONE))


async def test_the_last_line_counts_after_the_exit(terminal):
    await terminal.start_agent()
    terminal.print_events(STARTED, WORK)
    terminal.has_terminal = None
    terminal.print_events({"type": DONE, "usage": USED})
    assert await terminal.state() == "completed"


async def test_the_last_line_does_not_count_without_the_terminal(terminal):
    await terminal.start_agent()
    terminal.print_events(STARTED, WORK)
    terminal.has_terminal = False
    terminal.print_events({"type": "item.started", "item": {"type": "reasoning"}})
    terminal.has_terminal = None
    terminal.print_events({"type": DONE, "usage": USED})
    assert await terminal.state() == "running"


async def test_a_restarted_daemon_continues(terminal):
    await terminal.start_agent()
    terminal.print_events(STARTED, WORK)
    await terminal.scene.tracker.wait_stored()
    await terminal.scene.restart()
    again = TerminalScene(terminal.scene)
    again.reader.follow(terminal.scene.tracker.find_agent_in_pane(PaneId(1)), RUN)
    again._end = 100
    again.print_events({"type": DONE, "usage": USED}, after=2)
    assert await again.state() == "completed"
    assert again.session.usage.total == 1525


async def test_an_agent_that_left_is_ignored(terminal):
    await terminal.start_agent()
    terminal.reader.leave(terminal.scene.tracker.find_agent_in_pane(PaneId(1)))
    terminal.print_events(STARTED, WORK)
    assert await terminal.state() == "unknown"
