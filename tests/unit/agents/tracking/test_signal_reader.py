"""Records, marks and screens become signals."""

import pytest
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import ProcessInfo, SourceRecord
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.signal_reader import SignalReader
from termvisor.model.agent.signal import ProcessHint, Signal
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import Epoch, Mark
from termvisor.model.terminal.screen import Screen
from tests.unit.agents.tracking.toy_agent import ToyAdapter
from tests.unit.agents.tracking.tracker_scene import (
    ONE,
    build_agent_started,
    build_location,
    build_registry,
    build_signal,
)

PROCESS = ProcessInfo(pid=101, pid_started=9, env={"TOY_HOME": "/home/ada/.toy"})


class FakePathWatcher:
    def __init__(self):
        self.watched = {}

    def watch(self, key, watches, agent=""):
        self.watched[key] = (agent, [watch.folder for watch in watches])

    def unwatch(self, key):
        del self.watched[key]


def build_epoch(tracker_scene, pane: int = 1) -> Epoch:
    return Epoch(id=EpochId(5), pane=PaneId(pane), opened_at=tracker_scene.now(), source="pipe")


def build_mark(text: str, offset: int, kind: str = "agent") -> Mark:
    return Mark(kind=kind, offset=offset, text=text)


def screen(tracker_scene, *rows: str) -> Screen:
    return Screen(pane=PaneId(1), rows=rows, width=80, height=24, at=tracker_scene.now())


def build_reader(tracker_scene, **callbacks) -> SignalReader:
    return SignalReader(tracker_scene.tracker, build_registry(), tracker_scene.clock, **callbacks)


async def read_state_value(tracker_scene) -> str:
    await tracker_scene.tracker.wait_stored()
    return tracker_scene.states[0].value


async def count_facts(tracker_scene) -> int:
    await tracker_scene.tracker.wait_stored()
    return tracker_scene.tracker.state.last_fact


async def test_a_mark_belongs_to_the_agent_in_its_pane_once(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    reader = build_reader(tracker_scene)
    reader.read_marks(
        build_epoch(tracker_scene),
        [
            (tracker_scene.now(), build_mark("state=working", 10)),
            (tracker_scene.now(1), build_mark("state=blocked", 20)),
        ],
    )
    assert await read_state_value(tracker_scene) == "waiting_approval"
    reader.read_marks(build_epoch(tracker_scene), [(tracker_scene.now(1), build_mark("state=working", 10))])
    assert await read_state_value(tracker_scene) == "waiting_approval"


async def test_marks_before_the_process_start_are_ignored(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    build_reader(tracker_scene).read_marks(
        build_epoch(tracker_scene), [(tracker_scene.now(-5), build_mark("state=working", 10))]
    )
    assert await read_state_value(tracker_scene) == "unknown"


async def test_an_early_mark_counts_after_the_identification(tracker_scene):
    reader = build_reader(tracker_scene)
    reader.read_marks(
        build_epoch(tracker_scene),
        [
            (tracker_scene.now(-60), build_mark("state=error", 5)),
            (tracker_scene.now(0.2), build_mark("state=working", 10)),
        ],
    )
    assert await count_facts(tracker_scene) == 0
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    reader.follow(tracker_scene.tracker.find_agent_in_pane(PaneId(1)), PROCESS)
    assert await read_state_value(tracker_scene) == "running"


async def test_a_title_counts_when_its_text_changes(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    reader = build_reader(tracker_scene)
    for offset, text in enumerate(("⠋ fix tests", "⠙ fix tests", "⠹ fix tests", "⠸ write docs")):
        reader.read_marks(build_epoch(tracker_scene), [(tracker_scene.now(offset), build_mark(text, offset, "title"))])
    assert await count_facts(tracker_scene) == 3
    assert tracker_scene.tracker.state.knowledge.source_slots[ONE].slots["title"].title == "⠸ write docs"


async def test_marks_of_undeclared_sources_are_ignored(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    build_reader(tracker_scene).read_marks(
        build_epoch(tracker_scene),
        [(tracker_scene.now(), build_mark("", 1, "bell")), (tracker_scene.now(), build_mark("hi", 2, "notification"))],
    )
    assert await count_facts(tracker_scene) == 1


async def test_files_are_watched_while_the_agent_runs(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    reader, runtime = build_reader(tracker_scene), tracker_scene.tracker.find_agent_in_pane(PaneId(1))
    reader.path_watcher = path_watcher = FakePathWatcher()
    reader.follow(runtime, PROCESS)
    assert path_watcher.watched == {ONE: ("toy", ["/home/ada/.toy"])}
    hint = ProcessHint(pid=101, pid_started=9)
    record = SourceRecord(
        source="notes", text="state=working:id=abc", at=tracker_scene.now(1), hint=hint, event_id="a@1"
    )
    await reader.read_records([record, replace(record, text="state=done", at=tracker_scene.now(2), event_id="a@2")])
    assert (tracker_scene.states[0].value, tracker_scene.tracker.get_session(ONE).external_id) == ("completed", "abc")
    reader.leave(runtime)
    assert path_watcher.watched == {}


async def test_positions_are_stored_without_signals(tracker_scene):
    record = SourceRecord(source="hook", text='{"agent":"nobody"}', at=tracker_scene.now(), seq=77, life=2)
    reader = build_reader(tracker_scene)
    await reader.read_records([record, replace(record, text="?", seq=99)])
    assert tracker_scene.tracker.source_positions == {"hook": (2, 99)}
    assert reader.unclaimed_record_count == 1


async def test_a_folder_with_several_agents_does_not_prove_the_owner(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    counted = []
    hint = ProcessHint(cwd=tracker_scene.tracker.find_agent_in_pane(PaneId(1)).cwd or "/src")

    async def count_agents(agent: str, cwd: str) -> int:
        counted.append((agent, cwd))
        return 2

    reader = build_reader(tracker_scene, count_agents=count_agents)
    record = SourceRecord(
        source="notes", text="state=working:id=abc", at=tracker_scene.now(1), hint=hint, event_id="a@1"
    )
    await reader.read_records([record])
    assert (tracker_scene.states[0].value, counted) == ("unknown", [("toy", hint.cwd)])
    named = replace(record, hint=ProcessHint(pid=101, pid_started=9), event_id="a@2")
    await reader.read_records([named])
    assert (tracker_scene.states[0].value, len(counted)) == ("running", 1), "a process is proof"


async def test_the_resumed_session_is_known_from_the_command_line(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    reader, runtime = build_reader(tracker_scene), tracker_scene.tracker.find_agent_in_pane(PaneId(1))
    resumed = replace(PROCESS, argv=("toy-agent", "--resume", "s1"))
    reader.follow(runtime, resumed)
    assert await read_state_value(tracker_scene) == "unknown"
    assert tracker_scene.tracker.get_session(ONE).resume == ("toy-agent", "--resume", "s1")
    count = await count_facts(tracker_scene)
    reader.follow(runtime, resumed)
    assert await count_facts(tracker_scene) == count
    reader.read_marks(build_epoch(tracker_scene), [(tracker_scene.now(1), build_mark("state=working:id=s2", 10))])
    assert await read_state_value(tracker_scene) == "running"
    assert tracker_scene.tracker.get_session(ONE).external_id == "s2"


async def test_the_version_of_the_program_counts_until_the_agent_reports_one(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    reader, runtime = build_reader(tracker_scene), tracker_scene.tracker.find_agent_in_pane(PaneId(1))
    reader.follow(runtime, PROCESS)
    assert await count_facts(tracker_scene) == 1
    reader.follow(runtime, replace(PROCESS, version="1.4.0"))
    assert await count_facts(tracker_scene) == 2
    assert tracker_scene.tracker.get_version(ONE) == "1.4.0"
    reader.follow(runtime, replace(PROCESS, version="1.5.0"))
    assert await count_facts(tracker_scene) == 2, "after a restart, the files may be those of an update"


async def test_a_finished_tool_is_published_once_its_record_is_stored(tracker_scene, monkeypatch):
    finished = object()
    monkeypatch.setattr(
        "termvisor.agents.tracking.signal_reader.parse_tool_end",
        lambda record: finished if record.text == "end" else None,
    )
    reader = build_reader(tracker_scene)
    records = [
        SourceRecord(source=source, text=text, at=tracker_scene.now())
        for source, text in (("notes", "begin"), ("rumour", "end"))
    ]
    with reader.finished_tools.subscribe() as published:
        await reader.read_records(records)
        assert published.drain() == [finished]
    assert reader.unclaimed_record_count == 1


class RecordingAdapter(ToyAdapter):
    """A toy agent that reports what it reads, with the hint of the record."""

    def __init__(self):
        self.records = []

    def read_record(self, record):
        self.records.append(record)
        return super().read_record(record)


async def test_a_mark_becomes_a_whole_record(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    adapter = RecordingAdapter()
    reader = SignalReader(tracker_scene.tracker, AdapterRegistry(lambda: [adapter]), tracker_scene.clock)
    mark = Mark(kind="agent", offset=7, params={"state": "working", "id": "abc"})
    reader.read_marks(build_epoch(tracker_scene), [(tracker_scene.now(), mark)])
    place = build_location()
    hint = ProcessHint(target=place.target, socket=place.socket, mux_pane=place.mux_pane, pid=101, pid_started=9)
    assert adapter.records == [
        SourceRecord(source="osc", text="state=working:id=abc", at=tracker_scene.now(), hint=hint, event_id="5@7")
    ]
    assert await read_state_value(tracker_scene) == "running"


async def test_a_title_that_no_adapter_reads_becomes_a_whole_note(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    at = tracker_scene.now(1)
    build_reader(tracker_scene).read_marks(build_epoch(tracker_scene), [(at, build_mark("fix tests", 3, "title"))])
    await tracker_scene.tracker.wait_stored()
    ((_, signal),) = await tracker_scene.store.agent_facts.list_after(1)
    assert signal == Signal(
        id=2,
        source="title",
        tier="heuristic",
        agent="toy",
        runtime=ONE,
        event_at=at,
        ingested_at=at,
        dedupe_key="5@3",
        kind="note",
        title="fix tests",
    )


async def test_a_mark_that_no_adapter_reads_is_no_note(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    build_reader(tracker_scene).read_marks(build_epoch(tracker_scene), [(tracker_scene.now(), build_mark("x", 3))])
    assert await count_facts(tracker_scene) == 1


async def test_a_title_counts_again_for_the_next_agent(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    reader, agent = build_reader(tracker_scene), tracker_scene.tracker.find_agent_in_pane(PaneId(1))
    for offset, expected in ((1, 2), (2, 2)):
        mark = build_mark("fix tests", offset, "title")
        reader.read_marks(build_epoch(tracker_scene), [(tracker_scene.now(), mark)])
        assert await count_facts(tracker_scene) == expected
    reader.leave(agent)
    mark = build_mark("fix tests", 3, "title")
    reader.read_marks(build_epoch(tracker_scene), [(tracker_scene.now(), mark)])
    assert await count_facts(tracker_scene) == 3


@pytest.mark.parametrize(("more", "value"), [(15, "running"), (16, "unknown")])
async def test_only_the_last_marks_of_an_unknown_agent_are_buffered(tracker_scene, more, value):
    reader = build_reader(tracker_scene)
    marks = [build_mark("state=working", 1), *(build_mark("x", 2 + number) for number in range(more))]
    reader.read_marks(build_epoch(tracker_scene), [(tracker_scene.now(), mark) for mark in marks])
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    reader.follow(tracker_scene.tracker.find_agent_in_pane(PaneId(1)), PROCESS)
    assert await read_state_value(tracker_scene) == value


@pytest.mark.parametrize(
    ("age_s", "started_s", "value"), [(10, -60, "running"), (10.1, -60, "unknown"), (1, -0.9, "unknown")]
)
async def test_an_old_mark_of_an_unknown_agent_does_not_count(tracker_scene, age_s, started_s, value):
    reader = build_reader(tracker_scene)
    mark = build_mark("state=working", 1)
    reader.read_marks(build_epoch(tracker_scene), [(tracker_scene.now(-age_s), mark)])
    await tracker_scene.submit(build_agent_started(tracker_scene.now(started_s)))
    reader.follow(tracker_scene.tracker.find_agent_in_pane(PaneId(1)), PROCESS)
    assert await read_state_value(tracker_scene) == value


async def test_other_marks_of_an_unknown_agent_are_not_buffered(tracker_scene):
    reader = build_reader(tracker_scene)
    reader.read_marks(build_epoch(tracker_scene), [(tracker_scene.now(), build_mark("a title", 1, "title"))])
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    reader.follow(tracker_scene.tracker.find_agent_in_pane(PaneId(1)), PROCESS)
    assert await count_facts(tracker_scene) == 1


FOLDER = ProcessHint(cwd="/home/ada")


@pytest.mark.parametrize(
    ("hint", "session", "count", "asked"),
    [
        (FOLDER, "new", 1, 1),
        (ProcessHint(cwd="/home/ada", is_doubtful=True), "new", 2, 0),
        (ProcessHint(cwd="/home/ada", pid=101, pid_started=9), "new", 2, 0),
        (ProcessHint(pid=101, pid_started=9), "new", 2, 0),
        (FOLDER, "known", 2, 0),
    ],
)
async def test_only_a_folder_of_an_unknown_session_may_be_ambiguous(tracker_scene, hint, session, count, asked):
    known = build_signal(tracker_scene.now(), "idle", session="known")
    await tracker_scene.submit(build_agent_started(tracker_scene.now()), known)
    counted = []

    async def count_agents(agent: str, cwd: str) -> int:
        counted.append((agent, cwd))
        return count

    text = f"state=working:id={session}"
    record = SourceRecord(source="notes", text=text, at=tracker_scene.now(1), hint=hint, event_id="a@1")
    await build_reader(tracker_scene, count_agents=count_agents).read_records([record])
    assert counted == [("toy", "/home/ada")] * asked
    ((_, signal),) = await tracker_scene.store.agent_facts.list_after(2)
    assert signal.hint == hint


async def test_records_wait_while_the_buffer_is_full(tracker_scene, monkeypatch):
    monkeypatch.setattr("termvisor.agents.tracking.tracker._MAX_PENDING_FACTS", 1)
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    hint = ProcessHint(pid=101, pid_started=9)
    records = [
        SourceRecord(source="notes", text=f"state={state}", at=tracker_scene.now(), hint=hint, event_id=state)
        for state in ("working", "blocked", "done")
    ]
    recorded = []

    async def record_transcripts(read):
        recorded.append((tracker_scene.tracker.state.last_fact, read))

    await build_reader(tracker_scene, record_transcripts=record_transcripts).read_records(records)
    assert recorded == [(4, [("toy", record) for record in records])]


async def test_an_agent_without_watched_files_is_not_watched(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    reader, agent = build_reader(tracker_scene), tracker_scene.tracker.find_agent_in_pane(PaneId(1))
    reader.follow(agent, PROCESS)
    reader.leave(agent)
    reader.path_watcher = path_watcher = FakePathWatcher()
    reader.follow(agent, replace(PROCESS, env={}))
    assert path_watcher.watched == {}
    reader.leave(agent)
