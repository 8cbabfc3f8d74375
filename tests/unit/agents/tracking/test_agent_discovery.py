"""Who is there: begins, ends, and how seldom anybody has to look."""

import asyncio

import pytest

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.tracking import AgentDiscovery, agent_discovery
from termvisor.bus import Bus
from termvisor.model.event import Event
from termvisor.model.ids import PaneId
from tests.unit.agents.tracking.tracker_scene import build_pane_info, build_registry

ONE, TWO = PaneId(1), PaneId(2)
SHELL = ProcessInfo(pid=7, pid_started=1, argv=("bash",))


def toy(pid: int = 50) -> ProcessInfo:
    return ProcessInfo(pid=pid, pid_started=9, argv=("node", "/usr/bin/toy-agent"), cwd="/home/ada")


class Machine:
    """What runs in each pane, who is in front, and how often that was asked."""

    def __init__(self):
        self.trees = {ONE: [SHELL], TWO: [SHELL]}
        self.front = 7
        self.asked = []

    async def scan(self, panes):
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
    monkeypatch.setattr(agent_discovery, "find_foreground_group", lambda pid: one.front)
    monkeypatch.setattr(
        agent_discovery, "filter_group_members", lambda group, pids: frozenset(pid for pid in pids if pid == group)
    )
    monkeypatch.setattr(agent_discovery, "compute_start_instant", lambda started, now: now)
    return one


@pytest.fixture
def recognition(tracker_scene, machine):
    one = AgentDiscovery(tracker_scene.tracker, build_registry(), machine, tracker_scene.clock)
    one.list_panes = lambda: [build_pane_info(1), build_pane_info(2)]
    one.follower = Company()
    return one


async def test_an_agent_below_the_shell_is_recognised_followed_and_its_end_awaited(tracker_scene, machine, recognition):
    machine.trees[ONE] += [toy()]
    await recognition.scan()
    runtime = tracker_scene.tracker.find_agent_in_pane(ONE)
    assert (runtime.agent, runtime.pid, runtime.pid_started, runtime.cwd) == ("toy", 50, 9, "/home/ada")
    assert (recognition.follower.followed, recognition.follower.ends) == ([(1, 50)], [(50, 9)])
    assert tracker_scene.tracker.find_agent_in_pane(TWO) is None


async def test_the_same_process_is_the_same_runtime_whoever_has_the_terminal(tracker_scene, machine, recognition):
    machine.trees[ONE] += [toy()]
    await recognition.scan()
    machine.front = 99
    await recognition.scan()
    assert tracker_scene.tracker.find_agent_in_pane(ONE).id == 1


async def test_the_same_pid_with_another_start_is_another_runtime(tracker_scene, machine, recognition):
    machine.trees[ONE] += [toy()]
    await recognition.scan()
    machine.trees[ONE] = [SHELL, ProcessInfo(pid=50, pid_started=10, argv=("toy-agent",))]
    await recognition.scan()
    assert tracker_scene.tracker.find_agent_in_pane(ONE).id == 2
    assert recognition.follower.followed == [(2, 50)]


async def test_one_that_is_gone_is_over(tracker_scene, machine, recognition):
    machine.trees[ONE] += [toy()]
    await recognition.scan()
    machine.trees[ONE] = [SHELL]
    await recognition.scan()
    assert tracker_scene.tracker.agents_by_pane == {}
    assert recognition.follower.followed == []


async def test_the_end_of_its_process_ends_it_at_once(tracker_scene, machine, recognition):
    machine.trees[ONE] += [toy()]
    await recognition.scan()
    recognition.handle_process_exit(50, 8)
    recognition.handle_process_exit(50, 9)
    await tracker_scene.tracker.wait_stored()
    assert tracker_scene.tracker.agents_by_pane == {}


async def test_the_second_agent_in_a_pane_takes_over_when_it_has_the_terminal(tracker_scene, machine, recognition):
    machine.trees[ONE] += [toy(), toy(60)]
    machine.front = 60
    await recognition.scan()
    assert tracker_scene.tracker.find_agent_in_pane(ONE).pid == 60
    machine.front = 50
    await recognition.scan({ONE})
    assert tracker_scene.tracker.find_agent_in_pane(ONE).pid == 50


async def test_quiet_panes_are_not_looked_at(tracker_scene, machine, recognition):
    await recognition.scan()
    for _ in range(50):
        await tracker_scene.clock.advance(1)
        await recognition.scan(set())
    assert machine.asked == [[ONE, TWO]]


async def test_a_pane_that_prints_is_looked_at_when_another_program_has_its_terminal(
    tracker_scene, machine, recognition
):
    await recognition.scan()
    await recognition.scan({ONE})
    assert machine.asked == [[ONE, TWO]]
    machine.front = 50
    await recognition.scan({ONE})
    assert machine.asked[1:] == [[ONE]]


async def test_a_pane_that_prints_on_and_on_is_looked_at_ever_more_seldom(tracker_scene, machine, recognition):
    await recognition.scan()
    for _ in range(59):
        await tracker_scene.clock.advance(1)
        await recognition.scan({ONE})
    assert machine.asked[1:] == [[ONE]] * 5


async def test_another_command_is_looked_at_though_nothing_was_printed(machine, recognition):
    await recognition.scan()
    recognition.panes = lambda: [build_pane_info(1, command="node"), build_pane_info(2)]
    await recognition.scan(set())
    assert machine.asked[1:] == [[ONE]]


async def test_all_are_looked_at_once_a_minute(tracker_scene, machine, recognition):
    await recognition.scan()
    await tracker_scene.clock.advance(61)
    await recognition.scan(set())
    assert machine.asked == [[ONE, TWO], [ONE, TWO]]


async def heard(recognition, tracker_scene, *events: Event):
    """Tell it what happened to panes, and wait until it has heard everything."""
    bus: Bus[Event] = Bus()
    with bus.subscribe() as news:
        task = asyncio.ensure_future(recognition.follow_pane_events(news))
        for event in events:
            bus.publish(event)
        async with asyncio.timeout(10):
            while news._queue or tracker_scene.tracker._pending_facts:
                await asyncio.sleep(0)
        await tracker_scene.tracker.wait_stored()
        task.cancel()


async def test_a_pane_that_goes_ends_its_agent_and_a_gap_is_noted(tracker_scene, machine, recognition):
    machine.trees[ONE] += [toy()]
    await recognition.scan()
    await heard(recognition, tracker_scene, Event(at=tracker_scene.now(1), kind="gap_recorded", pane=ONE))
    await heard(recognition, tracker_scene, Event(at=tracker_scene.now(2), kind="pane_gone", pane=ONE))
    assert tracker_scene.tracker.agents_by_pane == {}
    (session,) = await tracker_scene.store.sessions.list()
    assert session.end_reason == "pane_gone"


async def test_what_happens_to_panes_without_agents_is_no_fact(tracker_scene, recognition):
    events = [
        Event(at=tracker_scene.now(), kind=kind, pane=ONE) for kind in ("pane_gone", "gap_recorded", "pane_renamed")
    ]
    await heard(recognition, tracker_scene, *events, Event(at=tracker_scene.now(), kind="daemon_started"))
    assert tracker_scene.tracker.state.last_fact == 0


async def test_agents_whose_pane_went_while_nobody_watched_are_over(tracker_scene, machine, recognition):
    machine.trees[ONE] += [toy()]
    await recognition.scan()
    await recognition.end_agents_of_gone_panes([ONE, TWO])
    assert len(tracker_scene.tracker.agents_by_pane) == 1
    await recognition.end_agents_of_gone_panes([TWO])
    assert tracker_scene.tracker.agents_by_pane == {}


async def test_who_printed_is_told_by_the_news_and_lost_news_mean_everybody(tracker_scene, recognition):
    bus: Bus[PaneId] = Bus()
    with bus.subscribe(queue_size=2) as news:
        bus.publish(ONE)
        bus.publish(ONE)
        waiting = recognition._wait_for_output(news)
        assert await passed(tracker_scene, waiting) == {ONE}
        for _ in range(3):
            bus.publish(TWO)
        assert await passed(tracker_scene, recognition._wait_for_output(news)) is None


async def passed(tracker_scene, waiting):
    """The answer of somebody who waits for time to pass."""
    task = asyncio.ensure_future(waiting)
    await tracker_scene.clock.wait_until_asleep()
    await tracker_scene.clock.advance(2)
    return await task
