"""Discovery of agents: starts, exits, and how seldom panes are scanned."""

import asyncio
import shutil
import subprocess

import pytest
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.tracking import agent_discovery, tracker
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.agent_discovery import AgentDiscovery
from termvisor.bus import Bus
from termvisor.model.agent.agent_process import AgentExited, AgentProcess, AgentStarted, OutputMissed, PaneClosed
from termvisor.model.event import Event
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.system import procfs
from tests.unit.agents.tracking.tracker_scene import build_agent_started, build_pane_info, build_registry
from tests.unit.wait_until import wait_until

ONE, TWO = PaneId(1), PaneId(2)
SHELL = ProcessInfo(pid=7, pid_started=1, argv=("bash",))


def build_toy_process(pid: int = 50) -> ProcessInfo:
    return ProcessInfo(pid=pid, pid_started=9, argv=("node", "/usr/bin/toy-agent"), cwd="/home/ada")


class FakeProcessScanner:
    """Returns the processes of each pane and the foreground group, and records the scans."""

    def __init__(self):
        self.trees = {ONE: [SHELL], TWO: [SHELL]}
        self.front = 7
        self.scans = []

    async def scan(self, panes):
        self.scans.append(sorted(panes))
        return {pane: tuple(self.trees[pane]) for pane in panes}


class FakeFollower:
    def __init__(self):
        self.followed, self.watched_exits, self.exit_code, self.versions = [], [], None, []

    def follow(self, runtime, process):
        self.followed.append((runtime.id, process.pid))
        self.versions.append(process.version)

    def leave(self, runtime):
        self.followed = [one for one in self.followed if one[0] != runtime.id]

    def read_exit_code(self, pid, started):
        return self.exit_code

    def watch_process(self, pid, started):
        self.watched_exits.append((pid, started))
        return True

    def unwatch_process(self, pid, started):
        self.watched_exits = [one for one in self.watched_exits if one != (pid, started)]


@pytest.fixture
def process_scanner(monkeypatch):
    one = FakeProcessScanner()
    monkeypatch.setattr(agent_discovery, "find_foreground_group", lambda pid: one.front)
    monkeypatch.setattr(
        agent_discovery, "filter_group_members", lambda group, pids: frozenset(pid for pid in pids if pid == group)
    )
    monkeypatch.setattr(agent_discovery, "compute_start_instant", lambda started, now: now)
    return one


@pytest.fixture
def discovery(tracker_scene, process_scanner):
    one = AgentDiscovery(tracker_scene.tracker, build_registry(), process_scanner, tracker_scene.clock)
    one.list_panes = lambda: [build_pane_info(1), build_pane_info(2)]
    one.exit_watcher = FakeFollower()
    one.followers = (one.exit_watcher,)
    return one


async def test_an_agent_below_the_shell_is_found_and_followed(tracker_scene, process_scanner, discovery):
    process_scanner.trees[ONE] += [build_toy_process()]
    await discovery.scan()
    runtime = tracker_scene.tracker.find_agent_in_pane(ONE)
    assert (runtime.agent, runtime.pid, runtime.pid_started, runtime.cwd) == ("toy", 50, 9, "/home/ada")
    assert (discovery.exit_watcher.followed, discovery.exit_watcher.watched_exits) == ([(1, 50)], [(50, 9)])
    assert tracker_scene.tracker.find_agent_in_pane(TWO) is None


async def test_a_new_agent_is_followed_with_the_version_of_its_program(
    tracker_scene, process_scanner, discovery, tmp_path, monkeypatch
):
    program = tmp_path / "versions" / "3.1.4"
    program.parent.mkdir()
    shutil.copy("/bin/sh", program)
    searches, find_version = [], discovery._version_finder.find_version
    monkeypatch.setattr(
        discovery._version_finder, "find_version", lambda *given: searches.append(given) or find_version(*given)
    )
    with subprocess.Popen([program], stdin=subprocess.PIPE) as child:
        started = procfs.read_start_time(child.pid)
        process_scanner.trees[ONE] += [replace(build_toy_process(child.pid), pid_started=started)]
        await discovery.scan()
        await discovery.scan()
    assert discovery.exit_watcher.versions == ["3.1.4"]
    assert len(searches) == 1


async def test_the_same_process_stays_the_same_agent_process(tracker_scene, process_scanner, discovery):
    process_scanner.trees[ONE] += [build_toy_process()]
    await discovery.scan()
    process_scanner.front = 99
    await discovery.scan()
    assert tracker_scene.tracker.find_agent_in_pane(ONE).id == 1


async def test_the_same_pid_with_another_start_is_another_agent_process(tracker_scene, process_scanner, discovery):
    process_scanner.trees[ONE] += [build_toy_process()]
    await discovery.scan()
    process_scanner.trees[ONE] = [SHELL, ProcessInfo(pid=50, pid_started=10, argv=("toy-agent",))]
    await discovery.scan()
    assert tracker_scene.tracker.find_agent_in_pane(ONE).id == 2
    assert discovery.exit_watcher.followed == [(2, 50)]


async def test_a_missing_process_has_exited(tracker_scene, process_scanner, discovery):
    process_scanner.trees[ONE] += [build_toy_process()]
    await discovery.scan()
    process_scanner.trees[ONE] = [SHELL]
    await discovery.scan()
    assert tracker_scene.tracker.agents_by_pane == {}
    assert discovery.exit_watcher.followed == []


async def test_a_process_exit_ends_the_agent_at_once(tracker_scene, process_scanner, discovery):
    process_scanner.trees[ONE] += [build_toy_process()]
    await discovery.scan()
    discovery.handle_process_exit(50, 8, 0)
    discovery.handle_process_exit(50, 9, 0)
    await tracker_scene.tracker.wait_stored()
    assert tracker_scene.tracker.agents_by_pane == {}


@pytest.mark.parametrize(
    ("exit_code", "reason"),
    [(0, "manual"), (137, "error"), (None, "error")],
)
async def test_the_end_reason_follows_from_the_exit_code(tracker_scene, process_scanner, discovery, exit_code, reason):
    discovery.list_panes = lambda: [replace(build_pane_info(1), tty="/dev/null")]
    process_scanner.trees[ONE] += [build_toy_process()]
    await discovery.scan()
    discovery.handle_process_exit(50, 9, exit_code)
    await tracker_scene.tracker.wait_stored()
    assert [one.end_reason for one in await tracker_scene.store.sessions.list()] == [reason]


@pytest.mark.parametrize("is_read_in_time", [True, False])
@pytest.mark.parametrize(
    ("is_restored", "exit_code", "reason"),
    [(False, 129, "pane_gone"), (False, 0, "pane_gone"), (True, 0, "manual")],
)
async def test_an_exit_is_told_from_a_closed_pane_by_the_restored_terminal(
    tracker_scene, process_scanner, discovery, is_read_in_time, is_restored, exit_code, reason
):
    discovery.list_panes = lambda: [replace(build_pane_info(1), tty="/dev/gone")]
    process_scanner.trees[ONE] += [build_toy_process()]
    await discovery.scan()
    discovery.has_restored_terminal = lambda pane: is_restored and is_read_in_time
    discovery.handle_process_exit(50, 9, exit_code)
    discovery.has_restored_terminal = lambda pane: is_restored
    await handle_events(discovery, tracker_scene, Event(at=tracker_scene.now(1), kind="pane_gone", pane=ONE))
    assert [one.end_reason for one in await tracker_scene.store.sessions.list()] == [reason]


async def test_a_scan_that_notices_an_exit_asks_for_its_code(tracker_scene, process_scanner, discovery):
    process_scanner.trees[ONE] += [build_toy_process()]
    await discovery.scan()
    process_scanner.trees[ONE].pop()
    discovery.exit_watcher.exit_code = 0
    await discovery.scan()
    assert [one.end_reason for one in await tracker_scene.store.sessions.list()] == ["manual"]


async def test_an_agent_whose_last_output_is_unread_ends_with_the_next_scan(tracker_scene, process_scanner, discovery):
    process_scanner.trees[ONE] += [build_toy_process()]
    await discovery.scan()
    discovery.has_unread_end = lambda agent_process: agent_process.pane == ONE
    process_scanner.trees[ONE].pop()
    discovery.handle_process_exit(50, 9, 0)
    await tracker_scene.tracker.wait_stored()
    assert ONE in tracker_scene.tracker.agents_by_pane
    await discovery.scan(set())
    assert tracker_scene.tracker.agents_by_pane == {}


async def test_an_agent_whose_process_is_hidden_is_known_by_the_command_alone(
    tracker_scene, process_scanner, discovery, monkeypatch
):
    process_scanner.front = 50
    monkeypatch.setattr(agent_discovery, "is_foreign_group", lambda group: group == 50)
    discovery.list_panes = lambda: [build_pane_info(1, "toy-agent"), build_pane_info(2, "bash")]
    for _ in range(2):
        await discovery.scan()
        agent = tracker_scene.tracker.find_agent_in_pane(ONE)
        assert (agent.id, agent.agent, agent.pid, agent.is_process_seen) == (1, "toy", 50, False)
        assert (agent.started_at, discovery.exit_watcher.watched_exits) == (tracker_scene.clock.now(), [])
    discovery.list_panes = lambda: [build_pane_info(1, "bash"), build_pane_info(2, "bash")]
    await discovery.scan({ONE})
    assert tracker_scene.tracker.agents_by_pane == {}


async def test_a_command_whose_process_can_be_read_is_no_proof(tracker_scene, process_scanner, discovery, monkeypatch):
    process_scanner.trees[ONE] += [ProcessInfo(pid=50, pid_started=9, argv=("sleep", "9"))]
    process_scanner.front = 50
    discovery.list_panes = lambda: [build_pane_info(1, "toy-agent")]
    await discovery.scan()
    process_scanner.trees[ONE].pop()
    monkeypatch.setattr(agent_discovery, "is_foreign_group", lambda group: False)
    await discovery.scan()
    assert tracker_scene.tracker.agents_by_pane == {}


async def test_a_disabled_agent_is_dropped_at_the_first_scan(tracker_scene, process_scanner, discovery):
    process_scanner.trees[ONE] += [build_toy_process()]
    await discovery.scan()
    discovery._registry = AdapterRegistry(lambda: [])
    await discovery.scan()
    assert tracker_scene.tracker.agents_by_pane == {}


async def test_a_second_agent_takes_over_in_the_foreground(tracker_scene, process_scanner, discovery):
    process_scanner.trees[ONE] += [build_toy_process(), build_toy_process(60)]
    process_scanner.front = 60
    await discovery.scan()
    assert tracker_scene.tracker.find_agent_in_pane(ONE).pid == 60
    process_scanner.front = 50
    await discovery.scan({ONE})
    assert tracker_scene.tracker.find_agent_in_pane(ONE).pid == 50


async def test_quiet_panes_are_not_scanned(tracker_scene, process_scanner, discovery):
    await discovery.scan()
    for _ in range(50):
        await tracker_scene.clock.advance(1)
        await discovery.scan(set())
    assert process_scanner.scans == [[ONE, TWO]]


async def test_a_pane_with_output_is_scanned_when_its_foreground_changes(tracker_scene, process_scanner, discovery):
    await discovery.scan()
    await discovery.scan({ONE})
    assert process_scanner.scans == [[ONE, TWO]]
    process_scanner.front = 50
    await discovery.scan({ONE})
    assert process_scanner.scans[1:] == [[ONE]]


async def test_a_pane_with_constant_output_is_scanned_less_often(tracker_scene, process_scanner, discovery):
    await discovery.scan()
    for _ in range(59):
        await tracker_scene.clock.advance(1)
        await discovery.scan({ONE})
    assert process_scanner.scans[1:] == [[ONE]] * 5


async def test_adapters_see_processes_again_only_if_something_changed(
    tracker_scene, process_scanner, discovery, monkeypatch
):
    registry, seen = discovery._registry, []
    monkeypatch.setattr(registry, "find_process", lambda agent, tree: seen.append([one.pid for one in tree]))
    await discovery.scan()
    assert seen == [[7], [7]]

    async def list_seen_after_a_scan() -> list[list[int]]:
        seen.clear()
        await tracker_scene.clock.advance(11)
        await discovery.scan({ONE})
        return seen

    assert await list_seen_after_a_scan() == []
    process_scanner.trees[ONE] = [SHELL, build_toy_process()]
    assert await list_seen_after_a_scan() == [[7], [7, 50]]
    process_scanner.front = 50
    assert await list_seen_after_a_scan() == [[50], [7, 50]]
    assert await list_seen_after_a_scan() == []
    registry.reload()
    assert await list_seen_after_a_scan() == [[50], [7, 50]]
    assert len(process_scanner.scans) == 6


async def test_a_changed_command_is_scanned_without_output(process_scanner, discovery):
    await discovery.scan()
    discovery.list_panes = lambda: [build_pane_info(1, command="node"), build_pane_info(2)]
    await discovery.scan(set())
    assert process_scanner.scans[1:] == [[ONE]]


async def test_all_panes_are_scanned_once_a_minute(tracker_scene, process_scanner, discovery):
    await discovery.scan()
    await tracker_scene.clock.advance(61)
    await discovery.scan(set())
    assert process_scanner.scans == [[ONE, TWO], [ONE, TWO]]


async def handle_events(discovery, tracker_scene, *events: Event):
    """Publish events of panes and wait until the discovery has handled them."""
    bus: Bus[Event] = Bus()
    with bus.subscribe() as subscription:
        task = asyncio.ensure_future(discovery.follow_pane_events(subscription))
        for event in events:
            bus.publish(event)
        async with asyncio.timeout(10):
            while subscription._queue or tracker_scene.tracker._pending_facts:
                await asyncio.sleep(0)
        await tracker_scene.tracker.wait_stored()
        task.cancel()


async def test_a_closed_pane_ends_its_agent_and_a_gap_is_recorded(tracker_scene, process_scanner, discovery):
    process_scanner.trees[ONE] += [build_toy_process()]
    await discovery.scan()
    await handle_events(discovery, tracker_scene, Event(at=tracker_scene.now(1), kind="gap_recorded", pane=ONE))
    await handle_events(discovery, tracker_scene, Event(at=tracker_scene.now(2), kind="pane_gone", pane=ONE))
    assert tracker_scene.tracker.agents_by_pane == {}
    (session,) = await tracker_scene.store.sessions.list()
    assert session.end_reason == "pane_gone"
    assert [fact for _, fact in await tracker_scene.store.agent_facts.list_after(1)] == [
        OutputMissed(at=tracker_scene.now(1), pane=ONE),
        PaneClosed(at=tracker_scene.now(2), pane=ONE),
    ]


async def test_events_of_panes_without_agents_are_ignored(tracker_scene, discovery):
    events = [
        Event(at=tracker_scene.now(), kind=kind, pane=ONE) for kind in ("pane_gone", "gap_recorded", "pane_renamed")
    ]
    await handle_events(discovery, tracker_scene, *events, Event(at=tracker_scene.now(), kind="daemon_started"))
    assert tracker_scene.tracker.state.last_fact == 0


async def test_agents_of_panes_closed_without_a_daemon_are_ended(tracker_scene, process_scanner, discovery):
    process_scanner.trees[ONE] += [build_toy_process()]
    await discovery.scan()
    await discovery.end_agents_of_gone_panes([ONE, TWO])
    assert len(tracker_scene.tracker.agents_by_pane) == 1
    await discovery.end_agents_of_gone_panes([TWO])
    assert tracker_scene.tracker.agents_by_pane == {}


async def test_dropped_output_notices_cause_a_full_scan(tracker_scene, discovery):
    bus: Bus[PaneId] = Bus()
    with bus.subscribe(queue_size=2) as subscription:
        bus.publish(ONE)
        bus.publish(ONE)
        waiting = discovery._wait_for_output(subscription)
        assert await await_after_two_seconds(tracker_scene, waiting) == {ONE}
        for _ in range(3):
            bus.publish(TWO)
        assert await await_after_two_seconds(tracker_scene, discovery._wait_for_output(subscription)) is None


async def await_after_two_seconds(tracker_scene, waiting):
    """Advance the clock by two seconds and return the result of `waiting`."""
    task = asyncio.ensure_future(waiting)
    await tracker_scene.clock.wait_until_asleep()
    await tracker_scene.clock.advance(2)
    return await task


async def test_without_any_output_only_urgent_panes_are_scanned(monkeypatch, discovery):
    monkeypatch.setattr(agent_discovery, "_QUIET_TIMEOUT_S", 0.001)
    bus: Bus[PaneId] = Bus()
    with bus.subscribe() as subscription:
        assert await discovery._wait_for_output(subscription) == set()
        discovery._urgent_panes.add(TWO)
        assert await discovery._wait_for_output(subscription) == {TWO}


@pytest.mark.parametrize("kind", ["pane_died", "pane_respawned", "pane_appeared"])
async def test_an_agent_in_a_new_process_of_a_pane_is_found_without_output(
    tracker_scene, process_scanner, discovery, kind
):
    await discovery.scan()
    process_scanner.trees[ONE] += [build_toy_process()]
    process_scanner.front = 50
    await handle_events(discovery, tracker_scene, Event(at=tracker_scene.now(1), kind=kind, pane=ONE))
    assert tracker_scene.tracker.find_agent_in_pane(ONE).pid == 50


async def test_an_urgent_pane_is_scanned_once(process_scanner, discovery):
    await discovery.scan()
    discovery._urgent_panes.add(TWO)
    await discovery.scan(set())
    await discovery.scan(set())
    assert process_scanner.scans[1:] == [[TWO]]


async def test_a_pane_that_closes_right_after_its_agent_explains_the_end(tracker_scene, process_scanner, discovery):
    process_scanner.trees[ONE] += [build_toy_process()]
    await discovery.scan()
    discovery.handle_process_exit(50, 9, 1)
    await tracker_scene.tracker.wait_stored()
    await handle_events(discovery, tracker_scene, Event(at=tracker_scene.now(1), kind="pane_gone", pane=ONE))
    assert [one.end_reason for one in await tracker_scene.store.sessions.list()] == ["pane_gone"]


async def test_a_found_agent_has_all_that_its_pane_and_process_show(
    tracker_scene, process_scanner, discovery, monkeypatch
):
    monkeypatch.setattr(agent_discovery, "compute_start_instant", lambda started, now: now + started)
    discovery.list_panes = lambda: [replace(build_pane_info(1), generation=3)]
    pane_info = build_pane_info(1)
    process_scanner.trees[ONE] += [build_toy_process()]
    await discovery.scan()
    ((_, fact),) = await tracker_scene.store.agent_facts.list_after(0)
    assert fact == AgentStarted(
        at=tracker_scene.now(),
        runtime=AgentProcess(
            id=RuntimeId(1),
            pane=ONE,
            place=pane_info.place,
            generation=3,
            agent="toy",
            pid=50,
            pid_started=9,
            cwd="/home/ada",
            started_at=tracker_scene.now() + 9,
        ),
    )


async def test_the_last_output_of_an_agent_is_read_while_it_still_runs(tracker_scene, process_scanner, discovery):
    process_scanner.trees[ONE] += [build_toy_process()]
    process_scanner.trees[TWO] += [build_toy_process(60)]
    await discovery.scan()
    flushed = []
    discovery.flush_output = lambda pane: flushed.append((pane, pane in tracker_scene.tracker.agents_by_pane))
    discovery.handle_process_exit(50, 9, 0)
    await tracker_scene.tracker.wait_stored()
    assert (flushed, discovery._urgent_panes) == ([(ONE, True)], {ONE})
    assert discovery.exit_watcher.followed == [(2, 60)]
    assert discovery.exit_watcher.watched_exits == [(60, 9)]


async def test_a_pane_that_is_almost_due_joins_a_scan(tracker_scene, process_scanner, discovery):
    await discovery.scan()
    await tracker_scene.clock.advance(0.6)
    process_scanner.trees[TWO] += [build_toy_process()]
    discovery.list_panes = lambda: [build_pane_info(1, command="node"), build_pane_info(2)]
    await discovery.scan({TWO})
    assert (process_scanner.scans[1:], discovery.scanned_pane_count) == ([[ONE, TWO]], 4)
    discovery.list_panes = lambda: [build_pane_info(1, command="vim"), build_pane_info(2)]
    await discovery.scan({TWO})
    assert process_scanner.scans[2:] == [[ONE]], "it was scanned just now"


async def test_a_quiet_pane_does_not_join_a_scan(tracker_scene, process_scanner, discovery):
    await discovery.scan()
    await tracker_scene.clock.advance(0.6)
    discovery.list_panes = lambda: [build_pane_info(1, command="node"), build_pane_info(2)]
    await discovery.scan(set())
    assert process_scanner.scans[1:] == [[ONE]]


async def test_panes_are_scanned_at_most_once_a_second_and_not_at_once(tracker_scene, discovery):
    bus: Bus[PaneId] = Bus()
    clock = tracker_scene.clock
    with bus.subscribe() as subscription:
        for wait_s in (0.1, 1.0):
            bus.publish(ONE)
            task = asyncio.ensure_future(discovery._wait_for_output(subscription))
            await clock.wait_until_asleep()
            ((due_at, _),) = clock._sleepers
            assert due_at == tracker_scene.now(wait_s)
            bus.publish(TWO)
            await clock.advance(wait_s)
            assert await task == {ONE, TWO}
            await discovery.scan(set())


async def test_an_agent_with_an_unread_end_keeps_its_exit_code(tracker_scene, process_scanner, discovery):
    process_scanner.trees[ONE] += [build_toy_process()]
    await discovery.scan()
    discovery.has_unread_end = lambda agent_process: True
    discovery.handle_process_exit(50, 9, 7)
    process_scanner.trees[ONE].pop()
    await tracker_scene.clock.advance(1)
    await discovery.scan(set())
    ((_, fact),) = await tracker_scene.store.agent_facts.list_after(1)
    assert fact == AgentExited(at=tracker_scene.now(-1), runtime=RuntimeId(1), exit_code=7)
    assert discovery._unread_exits == {}


async def test_an_exit_without_a_watcher_has_no_code(tracker_scene, process_scanner, discovery):
    discovery.exit_watcher, discovery.followers = None, ()
    process_scanner.trees[ONE] += [build_toy_process()]
    await discovery.scan()
    process_scanner.trees[ONE].pop()
    await discovery.scan()
    ((_, fact),) = await tracker_scene.store.agent_facts.list_after(1)
    assert fact == AgentExited(at=tracker_scene.now(), runtime=RuntimeId(1))


async def test_a_remote_agent_is_not_ended_by_a_scan(tracker_scene, discovery):
    await tracker_scene.submit(build_agent_started(tracker_scene.now(), pid=0, pid_started=0))
    await discovery.scan()
    assert list(tracker_scene.tracker.agents_by_pane) == [ONE]


async def test_facts_that_are_refused_are_found_again(tracker_scene, process_scanner, discovery, monkeypatch):
    process_scanner.trees[ONE] += [build_toy_process()]
    monkeypatch.setattr(tracker, "_MAX_PENDING_FACTS", 0)
    await discovery.scan()
    assert tracker_scene.tracker.agents_by_pane == {}
    monkeypatch.setattr(tracker, "_MAX_PENDING_FACTS", 10)
    await discovery.scan()
    assert discovery.exit_watcher.followed == [(2, 50)]


async def test_an_agent_in_a_pane_that_comes_back_is_found_at_once(tracker_scene, process_scanner, discovery):
    process_scanner.trees[ONE] += [build_toy_process()]
    await discovery.scan()
    await handle_events(discovery, tracker_scene, Event(at=tracker_scene.now(1), kind="pane_gone", pane=ONE))
    assert tracker_scene.tracker.agents_by_pane == {}
    await handle_events(discovery, tracker_scene, Event(at=tracker_scene.now(2), kind="pane_appeared", pane=ONE))
    assert tracker_scene.tracker.find_agent_in_pane(ONE).pid == 50


async def test_an_exit_wakes_the_wait_for_output(process_scanner, discovery):
    process_scanner.trees[ONE] += [build_toy_process()]
    scanning = asyncio.ensure_future(discovery.run(Bus().subscribe().__enter__()))
    await wait_until(lambda: len(process_scanner.scans) == 1 and discovery.exit_watcher.followed)
    process_scanner.trees[ONE] = [SHELL, build_toy_process(60)]
    discovery.handle_process_exit(50, 9, 0)
    await wait_until(lambda: discovery.exit_watcher.followed == [(2, 60)])
    scanning.cancel()


async def test_an_exit_during_a_scan_is_scanned_again(tracker_scene, process_scanner, discovery, monkeypatch):
    process_scanner.trees[ONE] += [build_toy_process()]
    await discovery.scan()
    process_scanner.front = 8
    scan = process_scanner.scan

    async def scan_while_it_exits(panes):
        trees = await scan(panes)
        discovery.handle_process_exit(50, 9, 0)
        return trees

    monkeypatch.setattr(process_scanner, "scan", scan_while_it_exits)
    await discovery.scan({ONE})
    monkeypatch.setattr(process_scanner, "scan", scan)
    process_scanner.trees[ONE] = [SHELL, build_toy_process(60)]
    await discovery.scan(set())
    assert tracker_scene.tracker.find_agent_in_pane(ONE).pid == 60


async def test_an_agent_whose_command_line_cannot_be_read_now_is_not_replaced(
    tracker_scene, process_scanner, discovery
):
    agent, helper = build_toy_process(50), build_toy_process(51)
    process_scanner.trees[ONE] += [agent, helper]
    await discovery.scan()
    process_scanner.trees[ONE] = [SHELL, replace(agent, argv=()), helper]
    process_scanner.front = 8
    await discovery.scan({ONE})
    assert tracker_scene.tracker.find_agent_in_pane(ONE).pid == 50
