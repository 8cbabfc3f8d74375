"""Remote agents, identified by their screen only."""

import pytest
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import ScreenReading
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.remote_agents import RemoteAgentDetector, is_carrier
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen
from tests.unit.agents.tracking.toy_agent import ToyAdapter
from tests.unit.agents.tracking.tracker_scene import (
    ONE,
    build_agent_started,
    build_pane_info,
    build_registry,
    build_signal,
)


def build_screen(tracker_scene, *rows: str) -> Screen:
    return Screen(pane=PaneId(1), rows=rows, width=80, height=24, at=tracker_scene.now())


async def scan_screens(tracker_scene, detector, command: str, *screens: str):
    for text in screens:
        one = build_pane_info(command=command)
        if detector.is_due(one):
            detector.scan_screen(one, build_screen(tracker_scene, text))
        await tracker_scene.clock.advance(3)
        await tracker_scene.tracker.wait_stored()
    return tracker_scene.tracker.find_agent_in_pane(PaneId(1))


def build_detector(tracker_scene) -> RemoteAgentDetector:
    return RemoteAgentDetector(tracker_scene.tracker, build_registry(), tracker_scene.clock)


async def test_two_consecutive_screens_identify_an_agent(tracker_scene):
    detector = build_detector(tracker_scene)
    assert await scan_screens(tracker_scene, detector, "ssh", "toy working") is None
    runtime = await scan_screens(tracker_scene, detector, "ssh", "toy working")
    assert (runtime.agent, runtime.pid) == ("toy", 0)


async def test_one_screen_is_not_enough(tracker_scene):
    assert (
        await scan_screens(tracker_scene, build_detector(tracker_scene), "ssh", "toy working", "$ ls", "toy working")
        is None
    )


@pytest.mark.parametrize("command", ["bash", "vim", "less", "cat"])
async def test_an_agent_screen_in_another_program_does_not_count(tracker_scene, command):
    assert (
        await scan_screens(
            tracker_scene, build_detector(tracker_scene), command, "toy working", "toy working", "toy working"
        )
        is None
    )


async def test_a_remote_agent_ends_with_its_carrier_program(tracker_scene):
    detector = build_detector(tracker_scene)
    await scan_screens(tracker_scene, detector, "ssh", "toy working", "toy working")
    detector.end_if_gone(build_pane_info(command="ssh"))
    await tracker_scene.tracker.wait_stored()
    assert tracker_scene.tracker.find_agent_in_pane(PaneId(1)) is not None
    detector.end_if_gone(build_pane_info(command="bash"))
    await tracker_scene.tracker.wait_stored()
    assert tracker_scene.tracker.find_agent_in_pane(PaneId(1)) is None


async def test_a_remote_agent_ends_after_two_screens_without_it(tracker_scene):
    detector = build_detector(tracker_scene)
    await tracker_scene.submit(build_agent_started(tracker_scene.now(), pid=0, pid_started=0))
    for number in range(2):
        await tracker_scene.submit(
            build_signal(
                tracker_scene.now(number), None, kind="no_agent", source="screen", tier="heuristic", runtime=ONE
            )
        )
    detector.end_if_gone(build_pane_info(command="ssh"))
    await tracker_scene.tracker.wait_stored()
    assert tracker_scene.tracker.find_agent_in_pane(PaneId(1)) is None


async def test_an_agent_with_a_known_process_is_not_ended_by_screens(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    build_detector(tracker_scene).end_if_gone(build_pane_info(command="bash"))
    await tracker_scene.tracker.wait_stored()
    assert tracker_scene.tracker.find_agent_in_pane(PaneId(1)) is not None


def test_carrier_programs_are_recognised_by_base_name():
    assert (is_carrier("/usr/bin/ssh"), is_carrier("docker"), is_carrier("sshd"), is_carrier("")) == (
        True,
        True,
        False,
        False,
    )


async def test_a_pane_that_shows_a_watched_tmux_has_no_agent(tracker_scene):
    detector = build_detector(tracker_scene)
    assert not detector.is_due(replace(build_pane_info(command="tmux"), shows_watched_panes=True))
    await scan_screens(tracker_scene, detector, "tmux", "toy working", "toy working")
    assert tracker_scene.tracker.find_agent_in_pane(PaneId(1)) is not None
    detector.end_if_gone(replace(build_pane_info(command="tmux"), shows_watched_panes=True))
    await tracker_scene.tracker.wait_stored()
    assert tracker_scene.tracker.find_agent_in_pane(PaneId(1)) is None


class SureAdapter(ToyAdapter):
    """An agent that reads every screen with this confidence."""

    def __init__(self, name: str, confidence: float, *, title: str = "", rule: str = "r", state: str = "idle"):
        self.name, self._title = name, title
        self._reading = ScreenReading(state=state, rule=rule, confidence=confidence)

    def classify_screen(self, screen, version=""):
        return self._reading

    def matches_title(self, title):
        return bool(self._title) and title == self._title


@pytest.mark.parametrize(
    ("adapters", "title", "agent"),
    [
        ([SureAdapter("a", 0.7)], "", "a"),
        ([SureAdapter("a", 0.69)], "", None),
        ([SureAdapter("a", 0.1, title="A")], "A", "a"),
        ([SureAdapter("a", 0.1, title="A")], "B", None),
        ([SureAdapter("a", 0.8), SureAdapter("b", 0.9)], "", "b"),
        ([SureAdapter("a", 0.6), SureAdapter("b", 0.5, title="B")], "B", None),
        ([SureAdapter("a", 0.9, rule="")], "", None),
        ([SureAdapter("a", 0.9, state="unknown")], "", None),
        ([SureAdapter("a", 0.9, rule="", title="A")], "A", None),
    ],
)
def test_an_agent_is_identified_by_a_sure_screen_or_its_title(adapters, title, agent):
    detector = RemoteAgentDetector(None, AdapterRegistry(lambda: adapters), None)
    screen = Screen(pane=PaneId(1), rows=("x",), width=80, height=24, at=1)
    assert detector._identify_agent(build_pane_info(command="ssh", title=title), screen) == (agent or "")


async def test_an_identified_agent_has_all_that_its_pane_shows(tracker_scene):
    detector, one = build_detector(tracker_scene), replace(build_pane_info(command="ssh"), generation=4)
    for _ in range(2):
        detector.scan_screen(one, build_screen(tracker_scene, "toy idle"))
    await tracker_scene.tracker.wait_stored()
    assert tracker_scene.tracker.find_agent_in_pane(PaneId(1)) == AgentProcess(
        id=ONE, pane=PaneId(1), place=one.place, generation=4, agent="toy", started_at=tracker_scene.now()
    )


async def test_a_pane_is_scanned_every_two_seconds_at_most(tracker_scene):
    detector, one = build_detector(tracker_scene), build_pane_info(command="ssh")
    assert detector.is_due(one)
    detector.scan_screen(one, build_screen(tracker_scene, "$"))
    await tracker_scene.clock.advance(1.9)
    assert not detector.is_due(one)
    await tracker_scene.clock.advance(0.1)
    assert detector.is_due(one)


async def test_a_pane_without_an_agent_is_captured_again_only_after_a_repaint(tracker_scene):
    detector, one = build_detector(tracker_scene), build_pane_info(command="ssh")
    detector.skip_screen(one)
    assert detector.list_unsettled_panes([one, build_pane_info(2, "bash")]) == [1]
    detector.scan_screen(one, build_screen(tracker_scene, "$"))
    detector.skip_screen(one)
    assert detector.list_unsettled_panes([one]) == []
    await tracker_scene.clock.advance(2)
    assert detector.list_unsettled_panes([one]) == [1]
    detector.scan_screen(one, build_screen(tracker_scene, "$"))
    await tracker_scene.clock.advance(2)
    assert detector.list_unsettled_panes([one]) == []


async def test_a_pane_that_left_its_carrier_program_starts_again(tracker_scene):
    detector, one = build_detector(tracker_scene), build_pane_info(command="ssh")
    assert await scan_screens(tracker_scene, detector, "ssh", "toy working") is None
    detector.skip_screen(one)
    assert not detector.is_due(build_pane_info(command="bash"))
    assert await scan_screens(tracker_scene, detector, "ssh", "toy working") is None
    assert await scan_screens(tracker_scene, detector, "ssh", "toy working") is not None
    detector.end_if_gone(build_pane_info(command="bash"))
    await tracker_scene.tracker.wait_stored()
    assert await scan_screens(tracker_scene, detector, "ssh", "toy working") is None
