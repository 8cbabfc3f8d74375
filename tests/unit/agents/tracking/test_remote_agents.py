"""Agents behind ssh and the like: only the screen names them, so much is asked of it."""

import pytest
from msgspec.structs import replace

from termvisor.agents.tracking import RemoteAgentDetector
from termvisor.agents.tracking.remote_agents import is_carrier
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen
from tests.unit.agents.tracking.tracker_scene import (
    ONE,
    build_agent_started,
    build_pane_info,
    build_registry,
    build_signal,
)


def screen(tracker_scene, *rows: str) -> Screen:
    return Screen(pane=PaneId(1), rows=rows, width=80, height=24, at=tracker_scene.now())


async def look(tracker_scene, afar, command: str, *screens: str):
    for text in screens:
        one = build_pane_info(command=command)
        if afar.is_due(one):
            afar.scan_screen(one, screen(tracker_scene, text))
        await tracker_scene.clock.advance(3)
        await tracker_scene.tracker.wait_stored()
    return tracker_scene.tracker.find_agent_in_pane(PaneId(1))


def seeing(tracker_scene) -> RemoteAgentDetector:
    return RemoteAgentDetector(tracker_scene.tracker, build_registry(), tracker_scene.clock)


async def test_two_looks_in_a_row_that_name_an_agent_make_one(tracker_scene):
    afar = seeing(tracker_scene)
    assert await look(tracker_scene, afar, "ssh", "toy working") is None
    runtime = await look(tracker_scene, afar, "ssh", "toy working")
    assert (runtime.agent, runtime.pid) == ("toy", 0)


async def test_one_look_is_not_enough(tracker_scene):
    assert await look(tracker_scene, seeing(tracker_scene), "ssh", "toy working", "$ ls", "toy working") is None


@pytest.mark.parametrize("command", ["bash", "vim", "less", "cat"])
async def test_a_picture_of_an_agent_in_another_program_is_none(tracker_scene, command):
    assert (
        await look(tracker_scene, seeing(tracker_scene), command, "toy working", "toy working", "toy working") is None
    )


async def test_it_ends_when_nothing_carries_it_any_more(tracker_scene):
    afar = seeing(tracker_scene)
    await look(tracker_scene, afar, "ssh", "toy working", "toy working")
    afar.end_if_gone(build_pane_info(command="ssh"))
    await tracker_scene.tracker.wait_stored()
    assert tracker_scene.tracker.find_agent_in_pane(PaneId(1)) is not None
    afar.end_if_gone(build_pane_info(command="bash"))
    await tracker_scene.tracker.wait_stored()
    assert tracker_scene.tracker.find_agent_in_pane(PaneId(1)) is None


async def test_it_ends_when_two_looks_do_not_find_it(tracker_scene):
    afar = seeing(tracker_scene)
    await tracker_scene.submit(build_agent_started(tracker_scene.now(), pid=0, pid_started=0))
    for number in range(2):
        await tracker_scene.submit(
            build_signal(
                tracker_scene.now(number), None, kind="no_agent", source="screen", tier="heuristic", runtime=ONE
            )
        )
    afar.end_if_gone(build_pane_info(command="ssh"))
    await tracker_scene.tracker.wait_stored()
    assert tracker_scene.tracker.find_agent_in_pane(PaneId(1)) is None


async def test_one_whose_process_is_known_is_not_ended_by_looks(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    seeing(tracker_scene).end_if_gone(build_pane_info(command="bash"))
    await tracker_scene.tracker.wait_stored()
    assert tracker_scene.tracker.find_agent_in_pane(PaneId(1)) is not None


def test_what_carries_terminals_is_known_by_its_bare_name():
    assert (is_carrier("/usr/bin/ssh"), is_carrier("docker"), is_carrier("sshd"), is_carrier("")) == (
        True,
        True,
        False,
        False,
    )


async def test_a_pane_that_shows_a_tmux_which_is_watched_too_has_no_agent_of_its_own(tracker_scene):
    afar = seeing(tracker_scene)
    assert not afar.is_due(replace(build_pane_info(command="tmux"), shows_ours=True))
    await look(tracker_scene, afar, "tmux", "toy working", "toy working")
    assert tracker_scene.tracker.find_agent_in_pane(PaneId(1)) is not None
    afar.end_if_gone(replace(build_pane_info(command="tmux"), shows_ours=True))
    await tracker_scene.tracker.wait_stored()
    assert tracker_scene.tracker.find_agent_in_pane(PaneId(1)) is None
