"""Printed JSON lines count only if the agent is proven to have printed them."""

import json

import pytest

from termvisor.agents.adapters.adapter import ProcessInfo, SourceRecord
from termvisor.agents.adapters.codex import ADAPTER
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.printed_json import PrintedJsonReader
from termvisor.model.agent.signal import ProcessHint
from termvisor.model.ids import PaneId
from termvisor.pipeline.json_lines import PrintedLine
from tests.unit.agents.tracking.test_signal_reader import build_epoch
from tests.unit.agents.tracking.tracker_scene import ONE, build_agent_started, build_signal

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


async def test_a_session_from_the_command_line_is_not_the_first_one(terminal):
    await terminal.scene.submit(build_agent_started(terminal.scene.now(), agent="codex"))
    note = build_signal(terminal.scene.now(), None, agent="codex", source="process", tier="heuristic", session=OTHER)
    await terminal.scene.submit(note)
    assert terminal.session.external_id == OTHER
    terminal.reader.follow(terminal.scene.tracker.find_agent_in_pane(PaneId(1)), RUN)
    terminal.print_events(STARTED, WORK)
    assert await terminal.state() == "running"
    assert terminal.session.external_id == THREAD


async def test_a_session_known_to_an_earlier_daemon_is_the_first_one(terminal):
    await terminal.start_agent()
    terminal.print_events(STARTED)
    await terminal.scene.tracker.wait_stored()
    await terminal.scene.restart()
    again = TerminalScene(terminal.scene)
    again.reader.follow(terminal.scene.tracker.find_agent_in_pane(PaneId(1)), RUN)
    again.print_events({"type": "thread.started", "thread_id": OTHER}, after=2)
    assert await again.state() == "unknown"
    assert again.session.external_id == THREAD


async def test_nothing_counts_after_a_failed_turn(terminal):
    await terminal.start_agent()
    terminal.print_events(STARTED, WORK, {"type": "turn.failed", "error": {"message": "no"}}, WORK)
    assert await terminal.state() == "error"


class RecordingRegistry(AdapterRegistry):
    def read_record(self, agent, record):
        self.records = [*getattr(self, "records", []), (agent, record)]
        return super().read_record(agent, record)


async def test_a_printed_line_becomes_a_whole_record(terminal):
    terminal.reader._registry = registry = RecordingRegistry(lambda: [ADAPTER])
    await terminal.start_agent()
    terminal.print_events(WORK)
    place = build_agent_started(0).runtime.place
    hint = ProcessHint(target=place.target, socket=place.socket, mux_pane=place.mux_pane, pid=101, pid_started=9)
    text = json.dumps(WORK)
    record = SourceRecord(source="printed", text=text, at=terminal.scene.now(1), hint=hint, event_id="5@10")
    assert registry.records == [("codex", record)]


@pytest.mark.parametrize(("after_s", "value"), [(0.0099, "unknown"), (0.01, "running")])
async def test_a_line_from_before_the_start_does_not_count(terminal, after_s, value):
    await terminal.start_agent()
    terminal.print_events(WORK, after=after_s)
    assert await terminal.state() == value


def print_early(terminal, *texts: str, pane: int = 1) -> None:
    lines = [PrintedLine(terminal.scene.now(0.5), terminal._next(), text) for text in texts]
    terminal.reader.read_lines(build_epoch(terminal.scene, pane), lines)


@pytest.mark.parametrize(("more", "value"), [(31, "running"), (32, "unknown")])
async def test_only_the_last_lines_of_an_unknown_agent_are_buffered(terminal, more, value):
    print_early(terminal, json.dumps(WORK), *["{}"] * more)
    await terminal.start_agent()
    assert await terminal.state() == value


@pytest.mark.parametrize(("panes", "value"), [(31, "running"), (32, "unknown")])
async def test_only_the_lines_of_the_last_panes_are_buffered(terminal, panes, value):
    print_early(terminal, json.dumps(WORK))
    for number in range(panes):
        print_early(terminal, "{}", pane=100 + number)
    await terminal.start_agent()
    assert await terminal.state() == value


@pytest.mark.parametrize(("chars", "value"), [(1024, "running"), (1025, "unknown")])
async def test_a_long_line_of_an_unknown_agent_is_not_buffered(terminal, chars, value):
    print_early(terminal, json.dumps(WORK).ljust(chars))
    await terminal.start_agent()
    assert await terminal.state() == value


@pytest.mark.parametrize(("seconds", "value"), [(10, "running"), (10.5, "unknown")])
async def test_an_old_line_of_an_unknown_agent_does_not_count(terminal, seconds, value):
    started = build_agent_started(terminal.scene.now(-1), agent="codex")
    terminal.print_events(WORK, after=0)
    await terminal.scene.submit(started)
    await terminal.scene.clock.advance(seconds)
    terminal.reader.follow(terminal.scene.tracker.find_agent_in_pane(PaneId(1)), RUN)
    assert await terminal.state() == value


async def test_an_agent_that_is_followed_again_continues_its_run(terminal):
    await terminal.start_agent()
    terminal.print_events(STARTED, WORK, {"type": DONE, "usage": USED})
    terminal.reader.follow(terminal.scene.tracker.find_agent_in_pane(PaneId(1)), RUN)
    terminal.print_events(WORK)
    assert await terminal.state() == "completed"
