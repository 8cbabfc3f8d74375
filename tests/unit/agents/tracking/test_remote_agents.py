"""Agents behind ssh and the like: only the screen names them, so much is asked of it."""

import pytest
from msgspec.structs import replace

from termvisor.agents.tracking import Afar
from termvisor.agents.tracking.remote_agents import carrier
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen
from tests.unit.agents.tracking.house import ONE, began, circle, says, standing


def screen(house, *rows: str) -> Screen:
    return Screen(pane=PaneId(1), rows=rows, width=80, height=24, at=house.now())


async def look(house, afar, command: str, *screens: str):
    for text in screens:
        one = standing(command=command)
        if afar.is_due(one):
            afar.look(one, screen(house, text))
        await house.clock.advance(3)
        await house.knowing.stored()
    return house.knowing.runtime_in(PaneId(1))


def seeing(house) -> Afar:
    return Afar(house.knowing, circle(), house.clock)


async def test_two_looks_in_a_row_that_name_an_agent_make_one(house):
    afar = seeing(house)
    assert await look(house, afar, "ssh", "toy working") is None
    runtime = await look(house, afar, "ssh", "toy working")
    assert (runtime.agent, runtime.pid) == ("toy", 0)


async def test_one_look_is_not_enough(house):
    assert await look(house, seeing(house), "ssh", "toy working", "$ ls", "toy working") is None


@pytest.mark.parametrize("command", ["bash", "vim", "less", "cat"])
async def test_a_picture_of_an_agent_in_another_program_is_none(house, command):
    assert await look(house, seeing(house), command, "toy working", "toy working", "toy working") is None


async def test_it_ends_when_nothing_carries_it_any_more(house):
    afar = seeing(house)
    await look(house, afar, "ssh", "toy working", "toy working")
    afar.end(standing(command="ssh"))
    await house.knowing.stored()
    assert house.knowing.runtime_in(PaneId(1)) is not None
    afar.end(standing(command="bash"))
    await house.knowing.stored()
    assert house.knowing.runtime_in(PaneId(1)) is None


async def test_it_ends_when_two_looks_do_not_find_it(house):
    afar = seeing(house)
    await house.tell(began(house.now(), pid=0, pid_started=0))
    for number in range(2):
        await house.tell(says(house.now(number), None, kind="no_agent", source="screen", tier="heuristic", runtime=ONE))
    afar.end(standing(command="ssh"))
    await house.knowing.stored()
    assert house.knowing.runtime_in(PaneId(1)) is None


async def test_one_whose_process_is_known_is_not_ended_by_looks(house):
    await house.tell(began(house.now()))
    seeing(house).end(standing(command="bash"))
    await house.knowing.stored()
    assert house.knowing.runtime_in(PaneId(1)) is not None


def test_what_carries_terminals_is_known_by_its_bare_name():
    assert (carrier("/usr/bin/ssh"), carrier("docker"), carrier("sshd"), carrier("")) == (True, True, False, False)


async def test_a_pane_that_shows_a_tmux_which_is_watched_too_has_no_agent_of_its_own(house):
    afar = seeing(house)
    assert not afar.is_due(replace(standing(command="tmux"), shows_ours=True))
    await look(house, afar, "tmux", "toy working", "toy working")
    assert house.knowing.runtime_in(PaneId(1)) is not None
    afar.end(replace(standing(command="tmux"), shows_ours=True))
    await house.knowing.stored()
    assert house.knowing.runtime_in(PaneId(1)) is None
