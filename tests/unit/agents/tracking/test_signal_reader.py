"""Everything that is heard and seen of agents becomes signals."""

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import Process, Record
from termvisor.agents.tracking import Hearing
from termvisor.clock import NS
from termvisor.model.agent.signal import Hint
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.mark import Mark
from termvisor.model.terminal.output import Epoch
from termvisor.model.terminal.screen import Screen
from tests.unit.agents.tracking.house import ONE, began, circle

PROCESS = Process(pid=101, pid_started=9, env={"TOY_HOME": "/home/ada/.toy"})


class Disk:
    """Notes who is to be read."""

    def __init__(self):
        self.watched = {}

    def watch(self, key, watches, agent=""):
        self.watched[key] = (agent, [watch.folder for watch in watches])

    def unwatch(self, key):
        del self.watched[key]


def epoch(house, pane: int = 1) -> Epoch:
    return Epoch(id=EpochId(5), pane=PaneId(pane), opened_at=house.now(), source="pipe")


def mark(text: str, offset: int, kind: str = "agent") -> Mark:
    return Mark(kind=kind, offset=offset, text=text)


def screen(house, *rows: str) -> Screen:
    return Screen(pane=PaneId(1), rows=rows, width=80, height=24, at=house.now())


def ears(house) -> Hearing:
    return Hearing(house.knowing, circle(), house.clock)


async def value(house) -> str:
    await house.knowing.stored()
    return house.states[0].value


async def facts(house) -> int:
    await house.knowing.stored()
    return house.knowing.standing.last_fact


async def test_a_mark_is_of_the_agent_in_its_pane_and_counts_once(house):
    await house.tell(began(house.now()))
    hearing = ears(house)
    hearing.marks(epoch(house), [(house.now(), mark("state=working", 10)), (house.now(1), mark("state=blocked", 20))])
    assert await value(house) == "waiting_approval"
    hearing.marks(epoch(house), [(house.now(1), mark("state=working", 10))])
    assert await value(house) == "waiting_approval"


async def test_what_was_printed_before_the_program_began_is_somebody_elses(house):
    await house.tell(began(house.now()))
    ears(house).marks(epoch(house), [(house.now(-5), mark("state=working", 10))])
    assert await value(house) == "unknown"


async def test_a_mark_that_came_before_the_agent_was_recognised_counts_then(house):
    hearing = ears(house)
    hearing.marks(epoch(house), [(house.now(-60), mark("state=error", 5)), (house.now(0.2), mark("state=working", 10))])
    assert await facts(house) == 0
    await house.tell(began(house.now()))
    hearing.follow(house.knowing.runtime_in(PaneId(1)), PROCESS)
    assert await value(house) == "running"


async def test_a_title_is_heard_when_its_words_change_not_when_its_spinner_turns(house):
    await house.tell(began(house.now()))
    hearing = ears(house)
    for offset, text in enumerate(("⠋ fix tests", "⠙ fix tests", "⠹ fix tests", "⠸ write docs")):
        hearing.marks(epoch(house), [(house.now(offset), mark(text, offset, "title"))])
    assert await facts(house) == 3
    assert house.knowing.standing.knowledge.ledgers[ONE].slots["title"].title == "⠸ write docs"


async def test_marks_that_an_agent_does_not_speak_in_are_not_its_words(house):
    await house.tell(began(house.now()))
    ears(house).marks(epoch(house), [(house.now(), mark("", 1, "bell")), (house.now(), mark("hi", 2, "notification"))])
    assert await facts(house) == 1


async def test_a_look_is_read_by_the_agents_adapter_and_told_when_it_is_news(house):
    await house.tell(began(house.now()))
    hearing = ears(house)
    hearing.moved_at = lambda pane: house.now()
    hearing.look(screen(house, "toy working"), 2 * NS)
    assert (await value(house), house.states[0].source) == ("running", "screen")
    hearing.look(screen(house, "toy working"), 2 * NS)
    hearing.look(screen(house, "3 s", "toy working"), 2 * NS)
    assert await facts(house) == 2
    await house.clock.advance(1)
    hearing.look(screen(house, "toy blocked"), 2 * NS)
    assert await value(house) == "waiting_approval"


async def test_a_look_at_a_pane_without_an_agent_says_nothing(house):
    ears(house).look(screen(house, "toy working"), 2 * NS)
    assert await facts(house) == 0


async def test_files_are_watched_while_the_agent_lives_and_their_records_are_its(house):
    await house.tell(began(house.now()))
    hearing, runtime = ears(house), house.knowing.runtime_in(PaneId(1))
    hearing.watching = disk = Disk()
    hearing.follow(runtime, PROCESS)
    assert disk.watched == {ONE: ("toy", ["/home/ada/.toy"])}
    hint = Hint(pid=101, pid_started=9)
    record = Record(source="notes", text="state=working:id=abc", at=house.now(1), hint=hint, event_id="a@1")
    await hearing.records([record, replace(record, text="state=done", at=house.now(2), event_id="a@2")])
    assert (house.states[0].value, house.knowing.session(ONE).external_id) == ("completed", "abc")
    hearing.leave(runtime)
    assert disk.watched == {}


async def test_how_far_a_log_is_read_is_stored_also_when_a_record_says_nothing(house):
    record = Record(source="hook", text='{"agent":"nobody"}', at=house.now(), seq=77, life=2)
    hearing = ears(house)
    await hearing.records([record, replace(record, text="?", seq=99)])
    assert house.knowing.marks == {"hook": (2, 99)}
    assert hearing.unclaimed == 1


async def test_what_names_only_a_folder_in_which_several_work_is_not_believed(house):
    await house.tell(began(house.now()))
    hearing, asked = ears(house), []
    here = Hint(cwd=house.knowing.runtime_in(PaneId(1)).cwd or "/src")

    async def several(agent: str, cwd: str) -> int:
        asked.append((agent, cwd))
        return 2

    hearing.count = several
    record = Record(source="notes", text="state=working:id=abc", at=house.now(1), hint=here, event_id="a@1")
    await hearing.records([record])
    assert (house.states[0].value, asked) == ("unknown", [("toy", here.cwd)])
    named = replace(record, hint=Hint(pid=101, pid_started=9), event_id="a@2")
    await hearing.records([named])
    assert (house.states[0].value, len(asked)) == ("running", 1), "a process is proof"


async def test_the_session_that_its_command_line_takes_up_is_known_at_once_and_says_nothing_of_its_state(house):
    await house.tell(began(house.now()))
    hearing, runtime = ears(house), house.knowing.runtime_in(PaneId(1))
    taking_up = replace(PROCESS, argv=("toy-agent", "--resume", "s1"))
    hearing.follow(runtime, taking_up)
    assert await value(house) == "unknown"
    assert house.knowing.session(ONE).resume == ("toy-agent", "--resume", "s1")
    count = await facts(house)
    hearing.follow(runtime, taking_up)
    assert await facts(house) == count
    hearing.marks(epoch(house), [(house.now(1), mark("state=working:id=s2", 10))])
    assert await value(house) == "running"
    assert house.knowing.session(ONE).external_id == "s2"
