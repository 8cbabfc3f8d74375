"""Who is there: begins, ends, and how seldom anybody has to look."""

import asyncio

import pytest

from termvisor.agents.adapters.adapter import Process
from termvisor.agents.tracking import Recognition
from termvisor.agents.tracking import agent_discovery as module
from termvisor.bus import Bus
from termvisor.model.event import Event
from termvisor.model.ids import PaneId
from tests.unit.agents.tracking.house import circle, standing

ONE, TWO = PaneId(1), PaneId(2)
SHELL = Process(pid=7, pid_started=1, argv=("bash",))


def toy(pid: int = 50) -> Process:
    return Process(pid=pid, pid_started=9, argv=("node", "/usr/bin/toy-agent"), cwd="/home/ada")


class Machine:
    """What runs in each pane, who is in front, and how often that was asked."""

    def __init__(self):
        self.trees = {ONE: [SHELL], TWO: [SHELL]}
        self.front = 7
        self.asked = []

    async def look(self, panes):
        self.asked.append(sorted(panes))
        return {pane: tuple(self.trees[pane]) for pane in panes}


class Company:
    def __init__(self):
        self.followed, self.ends = [], []

    def follow(self, runtime, process):
        self.followed.append((runtime.id, process.pid))

    def leave(self, runtime):
        self.followed = [one for one in self.followed if one[0] != runtime.id]

    def watch_end(self, pid, started):
        self.ends.append((pid, started))
        return True


@pytest.fixture
def machine(monkeypatch):
    one = Machine()
    monkeypatch.setattr(module, "foreground", lambda pid: one.front)
    monkeypatch.setattr(module, "members", lambda group, pids: frozenset(pid for pid in pids if pid == group))
    monkeypatch.setattr(module, "began_at", lambda started, now: now)
    return one


@pytest.fixture
def recognition(house, machine):
    one = Recognition(house.knowing, circle(), machine, house.clock)
    one.panes = lambda: [standing(1), standing(2)]
    one.follower = Company()
    return one


async def test_an_agent_below_the_shell_is_recognised_followed_and_its_end_awaited(house, machine, recognition):
    machine.trees[ONE] += [toy()]
    await recognition.look()
    runtime = house.knowing.runtime_in(ONE)
    assert (runtime.agent, runtime.pid, runtime.pid_started, runtime.cwd) == ("toy", 50, 9, "/home/ada")
    assert (recognition.follower.followed, recognition.follower.ends) == ([(1, 50)], [(50, 9)])
    assert house.knowing.runtime_in(TWO) is None


async def test_the_same_process_is_the_same_runtime_whoever_has_the_terminal(house, machine, recognition):
    machine.trees[ONE] += [toy()]
    await recognition.look()
    machine.front = 99
    await recognition.look()
    assert house.knowing.runtime_in(ONE).id == 1


async def test_the_same_pid_with_another_start_is_another_runtime(house, machine, recognition):
    machine.trees[ONE] += [toy()]
    await recognition.look()
    machine.trees[ONE] = [SHELL, Process(pid=50, pid_started=10, argv=("toy-agent",))]
    await recognition.look()
    assert house.knowing.runtime_in(ONE).id == 2
    assert recognition.follower.followed == [(2, 50)]


async def test_one_that_is_gone_is_over(house, machine, recognition):
    machine.trees[ONE] += [toy()]
    await recognition.look()
    machine.trees[ONE] = [SHELL]
    await recognition.look()
    assert house.knowing.living == {}
    assert recognition.follower.followed == []


async def test_the_end_of_its_process_ends_it_at_once(house, machine, recognition):
    machine.trees[ONE] += [toy()]
    await recognition.look()
    recognition.ended(50, 8)
    recognition.ended(50, 9)
    await house.knowing.stored()
    assert house.knowing.living == {}


async def test_the_second_agent_in_a_pane_takes_over_when_it_has_the_terminal(house, machine, recognition):
    machine.trees[ONE] += [toy(), toy(60)]
    machine.front = 60
    await recognition.look()
    assert house.knowing.runtime_in(ONE).pid == 60
    machine.front = 50
    await recognition.look({ONE})
    assert house.knowing.runtime_in(ONE).pid == 50


async def test_quiet_panes_are_not_looked_at(house, machine, recognition):
    await recognition.look()
    for _ in range(50):
        await house.clock.advance(1)
        await recognition.look(set())
    assert machine.asked == [[ONE, TWO]]


async def test_a_pane_that_prints_is_looked_at_when_another_program_has_its_terminal(house, machine, recognition):
    await recognition.look()
    await recognition.look({ONE})
    assert machine.asked == [[ONE, TWO]]
    machine.front = 50
    await recognition.look({ONE})
    assert machine.asked[1:] == [[ONE]]


async def test_a_pane_that_prints_on_and_on_is_looked_at_ever_more_seldom(house, machine, recognition):
    await recognition.look()
    for _ in range(59):
        await house.clock.advance(1)
        await recognition.look({ONE})
    assert machine.asked[1:] == [[ONE]] * 5


async def test_another_command_is_looked_at_though_nothing_was_printed(machine, recognition):
    await recognition.look()
    recognition.panes = lambda: [standing(1, command="node"), standing(2)]
    await recognition.look(set())
    assert machine.asked[1:] == [[ONE]]


async def test_all_are_looked_at_once_a_minute(house, machine, recognition):
    await recognition.look()
    await house.clock.advance(61)
    await recognition.look(set())
    assert machine.asked == [[ONE, TWO], [ONE, TWO]]


async def heard(recognition, house, *events: Event):
    """Tell it what happened to panes, and wait until it has heard everything."""
    bus: Bus[Event] = Bus()
    with bus.subscribe() as news:
        task = asyncio.ensure_future(recognition.hear(news))
        for event in events:
            bus.publish(event)
        async with asyncio.timeout(10):
            while news._news or house.knowing._waiting:
                await asyncio.sleep(0)
        await house.knowing.stored()
        task.cancel()


async def test_a_pane_that_goes_ends_its_agent_and_a_gap_is_noted(house, machine, recognition):
    machine.trees[ONE] += [toy()]
    await recognition.look()
    await heard(recognition, house, Event(at=house.now(1), kind="gap_recorded", pane=ONE))
    await heard(recognition, house, Event(at=house.now(2), kind="pane_gone", pane=ONE))
    assert house.knowing.living == {}
    (session,) = await house.store.sessions.list()
    assert session.end_reason == "pane_gone"


async def test_what_happens_to_panes_without_agents_is_no_fact(house, recognition):
    events = [Event(at=house.now(), kind=kind, pane=ONE) for kind in ("pane_gone", "gap_recorded", "pane_renamed")]
    await heard(recognition, house, *events, Event(at=house.now(), kind="daemon_started"))
    assert house.knowing.standing.last_fact == 0


async def test_agents_whose_pane_went_while_nobody_watched_are_over(house, machine, recognition):
    machine.trees[ONE] += [toy()]
    await recognition.look()
    await recognition.bury([ONE, TWO])
    assert len(house.knowing.living) == 1
    await recognition.bury([TWO])
    assert house.knowing.living == {}


async def test_who_printed_is_told_by_the_news_and_lost_news_mean_everybody(house, recognition):
    bus: Bus[PaneId] = Bus()
    with bus.subscribe(size=2) as news:
        bus.publish(ONE)
        bus.publish(ONE)
        waiting = recognition._stirred(news)
        assert await passed(house, waiting) == {ONE}
        for _ in range(3):
            bus.publish(TWO)
        assert await passed(house, recognition._stirred(news)) is None


async def passed(house, waiting):
    """The answer of somebody who waits for time to pass."""
    task = asyncio.ensure_future(waiting)
    await house.clock.until_asleep()
    await house.clock.advance(2)
    return await task
