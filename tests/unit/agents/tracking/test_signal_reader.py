"""Everything that is heard and seen of agents becomes signals."""

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import ProcessInfo, SourceRecord
from termvisor.agents.tracking import SignalReader
from termvisor.clock import NS
from termvisor.model.agent.signal import ProcessHint
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.mark import Mark
from termvisor.model.terminal.output import Epoch
from termvisor.model.terminal.screen import Screen
from tests.unit.agents.tracking.tracker_scene import ONE, build_agent_started, build_registry

PROCESS = ProcessInfo(pid=101, pid_started=9, env={"TOY_HOME": "/home/ada/.toy"})


class Disk:
    """Notes who is to be read."""

    def __init__(self):
        self.watched = {}

    def watch(self, key, watches, agent=""):
        self.watched[key] = (agent, [watch.folder for watch in watches])

    def unwatch(self, key):
        del self.watched[key]


def epoch(tracker_scene, pane: int = 1) -> Epoch:
    return Epoch(id=EpochId(5), pane=PaneId(pane), opened_at=tracker_scene.now(), source="pipe")


def mark(text: str, offset: int, kind: str = "agent") -> Mark:
    return Mark(kind=kind, offset=offset, text=text)


def screen(tracker_scene, *rows: str) -> Screen:
    return Screen(pane=PaneId(1), rows=rows, width=80, height=24, at=tracker_scene.now())


def ears(tracker_scene) -> SignalReader:
    return SignalReader(tracker_scene.tracker, build_registry(), tracker_scene.clock)


async def value(tracker_scene) -> str:
    await tracker_scene.tracker.wait_stored()
    return tracker_scene.states[0].value


async def facts(tracker_scene) -> int:
    await tracker_scene.tracker.wait_stored()
    return tracker_scene.tracker.state.last_fact


async def test_a_mark_is_of_the_agent_in_its_pane_and_counts_once(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    hearing = ears(tracker_scene)
    hearing.read_marks(
        epoch(tracker_scene),
        [(tracker_scene.now(), mark("state=working", 10)), (tracker_scene.now(1), mark("state=blocked", 20))],
    )
    assert await value(tracker_scene) == "waiting_approval"
    hearing.read_marks(epoch(tracker_scene), [(tracker_scene.now(1), mark("state=working", 10))])
    assert await value(tracker_scene) == "waiting_approval"


async def test_what_was_printed_before_the_program_began_is_somebody_elses(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    ears(tracker_scene).read_marks(epoch(tracker_scene), [(tracker_scene.now(-5), mark("state=working", 10))])
    assert await value(tracker_scene) == "unknown"


async def test_a_mark_that_came_before_the_agent_was_recognised_counts_then(tracker_scene):
    hearing = ears(tracker_scene)
    hearing.read_marks(
        epoch(tracker_scene),
        [(tracker_scene.now(-60), mark("state=error", 5)), (tracker_scene.now(0.2), mark("state=working", 10))],
    )
    assert await facts(tracker_scene) == 0
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    hearing.follow(tracker_scene.tracker.find_agent_in_pane(PaneId(1)), PROCESS)
    assert await value(tracker_scene) == "running"


async def test_a_title_is_heard_when_its_words_change_not_when_its_spinner_turns(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    hearing = ears(tracker_scene)
    for offset, text in enumerate(("⠋ fix tests", "⠙ fix tests", "⠹ fix tests", "⠸ write docs")):
        hearing.read_marks(epoch(tracker_scene), [(tracker_scene.now(offset), mark(text, offset, "title"))])
    assert await facts(tracker_scene) == 3
    assert tracker_scene.tracker.state.knowledge.ledgers[ONE].slots["title"].title == "⠸ write docs"


async def test_marks_that_an_agent_does_not_speak_in_are_not_its_words(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    ears(tracker_scene).read_marks(
        epoch(tracker_scene),
        [(tracker_scene.now(), mark("", 1, "bell")), (tracker_scene.now(), mark("hi", 2, "notification"))],
    )
    assert await facts(tracker_scene) == 1


async def test_a_look_is_read_by_the_agents_adapter_and_told_when_it_is_news(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    hearing = ears(tracker_scene)
    hearing.get_moved_at = lambda pane: tracker_scene.now()
    hearing.read_screen(screen(tracker_scene, "toy working"), 2 * NS)
    assert (await value(tracker_scene), tracker_scene.states[0].source) == ("running", "screen")
    hearing.read_screen(screen(tracker_scene, "toy working"), 2 * NS)
    hearing.read_screen(screen(tracker_scene, "3 s", "toy working"), 2 * NS)
    assert await facts(tracker_scene) == 2
    await tracker_scene.clock.advance(1)
    hearing.read_screen(screen(tracker_scene, "toy blocked"), 2 * NS)
    assert await value(tracker_scene) == "waiting_approval"


async def test_a_look_at_a_pane_without_an_agent_says_nothing(tracker_scene):
    ears(tracker_scene).read_screen(screen(tracker_scene, "toy working"), 2 * NS)
    assert await facts(tracker_scene) == 0


async def test_files_are_watched_while_the_agent_lives_and_their_records_are_its(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    hearing, runtime = ears(tracker_scene), tracker_scene.tracker.find_agent_in_pane(PaneId(1))
    hearing.path_watcher = disk = Disk()
    hearing.follow(runtime, PROCESS)
    assert disk.watched == {ONE: ("toy", ["/home/ada/.toy"])}
    hint = ProcessHint(pid=101, pid_started=9)
    record = SourceRecord(
        source="notes", text="state=working:id=abc", at=tracker_scene.now(1), hint=hint, event_id="a@1"
    )
    await hearing.read_records([record, replace(record, text="state=done", at=tracker_scene.now(2), event_id="a@2")])
    assert (tracker_scene.states[0].value, tracker_scene.tracker.get_session(ONE).external_id) == ("completed", "abc")
    hearing.leave(runtime)
    assert disk.watched == {}


async def test_how_far_a_log_is_read_is_stored_also_when_a_record_says_nothing(tracker_scene):
    record = SourceRecord(source="hook", text='{"agent":"nobody"}', at=tracker_scene.now(), seq=77, life=2)
    hearing = ears(tracker_scene)
    await hearing.read_records([record, replace(record, text="?", seq=99)])
    assert tracker_scene.tracker.source_positions == {"hook": (2, 99)}
    assert hearing.unclaimed_record_count == 1


async def test_what_names_only_a_folder_in_which_several_work_is_not_believed(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    hearing, asked = ears(tracker_scene), []
    here = ProcessHint(cwd=tracker_scene.tracker.find_agent_in_pane(PaneId(1)).cwd or "/src")

    async def several(agent: str, cwd: str) -> int:
        asked.append((agent, cwd))
        return 2

    hearing.count_agents = several
    record = SourceRecord(
        source="notes", text="state=working:id=abc", at=tracker_scene.now(1), hint=here, event_id="a@1"
    )
    await hearing.read_records([record])
    assert (tracker_scene.states[0].value, asked) == ("unknown", [("toy", here.cwd)])
    named = replace(record, hint=ProcessHint(pid=101, pid_started=9), event_id="a@2")
    await hearing.read_records([named])
    assert (tracker_scene.states[0].value, len(asked)) == ("running", 1), "a process is proof"


async def test_the_session_that_its_command_line_takes_up_is_known_at_once_and_says_nothing_of_its_state(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    hearing, runtime = ears(tracker_scene), tracker_scene.tracker.find_agent_in_pane(PaneId(1))
    taking_up = replace(PROCESS, argv=("toy-agent", "--resume", "s1"))
    hearing.follow(runtime, taking_up)
    assert await value(tracker_scene) == "unknown"
    assert tracker_scene.tracker.get_session(ONE).resume == ("toy-agent", "--resume", "s1")
    count = await facts(tracker_scene)
    hearing.follow(runtime, taking_up)
    assert await facts(tracker_scene) == count
    hearing.read_marks(epoch(tracker_scene), [(tracker_scene.now(1), mark("state=working:id=s2", 10))])
    assert await value(tracker_scene) == "running"
    assert tracker_scene.tracker.get_session(ONE).external_id == "s2"
