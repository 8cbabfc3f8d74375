"""Records, marks and screens become signals."""

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import ProcessInfo, SourceRecord
from termvisor.agents.tracking.signal_reader import SignalReader
from termvisor.model.agent.signal import ProcessHint
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import Epoch, Mark
from termvisor.model.terminal.screen import Screen
from tests.unit.agents.tracking.tracker_scene import ONE, build_agent_started, build_registry

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
