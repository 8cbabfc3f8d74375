"""Looks at agents' screens: not too often, not too seldom, and never at panes without one for nothing."""

from termvisor.agents.tracking import Afar, Gaze, Hearing
from termvisor.agents.tracking.agent_screen_sampler import Pace
from termvisor.backends.pane_source import Capture
from termvisor.capture.screen_sampler import Look
from termvisor.errors import MuxError
from termvisor.model.ids import EpochId, MuxPaneId, PaneId
from termvisor.model.terminal.screen_row import Life
from tests.unit.agents.tracking.house import began, circle, standing

KEY = "sk-ant-api03-" + "aB3dE6gH9" * 10


class Server:
    """Shows what it is told to, and counts who looks."""

    def __init__(self, *rows: str):
        self.rows, self.looked, self.is_down = rows, 0, False

    async def looks(self, panes):
        self.looked += 1
        if self.is_down:
            raise MuxError("no answer")
        return [Capture(rows=self.rows, width=80, height=24) for _ in panes]


def eyes(house, server: Server) -> Gaze:
    hearing = Hearing(house.knowing, circle(), house.clock)
    gaze = Gaze(house.knowing, hearing, Afar(house.knowing, circle(), house.clock), house.clock)
    gaze.place = lambda pane: (server, MuxPaneId("%1"))
    hearing.moved_at = lambda pane: house.now()
    return gaze


async def looks_in(house, gaze: Gaze, server: Server, seconds: float) -> int:
    before = server.looked
    for _ in range(int(seconds * 2)):
        await house.clock.advance(0.5)
        await gaze.turn()
    return server.looked - before


async def test_nobody_is_looked_at_where_no_agent_lives(house):
    server = Server("toy working")
    assert await looks_in(house, eyes(house, server), server, 10) == 0


async def test_a_pane_that_moves_is_looked_at_once_a_second_and_a_quiet_one_ever_more_seldom(house):
    await house.tell(began(house.now()))
    server = Server("toy working")
    gaze = eyes(house, server)
    assert 8 <= await looks_in(house, gaze, server, 10) <= 11
    still = house.now()
    gaze._hearing.moved_at = lambda pane: still
    assert 7 <= await looks_in(house, gaze, server, 16) <= 9
    await looks_in(house, gaze, server, 120)
    assert await looks_in(house, gaze, server, 120) == 4


async def test_what_is_seen_becomes_the_agents_state_without_its_secrets(house):
    await house.tell(began(house.now()))
    server = Server(f"key {KEY}", "toy blocked")
    gaze = eyes(house, server)
    await gaze.turn()
    await house.knowing.stored()
    assert (house.states[0].value, house.states[0].source) == ("waiting_approval", "screen")
    (glance,) = gaze._hearing._glances.values()
    assert KEY[:30] not in str(glance.rows)


async def test_a_server_that_does_not_answer_is_asked_again_later(house):
    await house.tell(began(house.now()))
    server = Server("toy working")
    server.is_down = True
    gaze = eyes(house, server)
    assert await looks_in(house, gaze, server, 4) > 1
    assert house.states[0].value == "unknown"


async def test_what_the_eyes_saw_needs_no_look_of_our_own(house):
    await house.tell(began(house.now()))
    server = Server("toy working")
    gaze = eyes(house, server)
    await gaze.turn()
    life = Life(PaneId(1), EpochId(1), True, 0)
    before = server.looked
    for _ in range(10):
        await house.clock.advance(0.5)
        gaze.take([Look(life, Capture(rows=("toy asking",)), house.now())])
        await gaze.turn()
    await house.knowing.stored()
    assert (server.looked, house.states[0].value) == (before, "waiting_input")


async def test_the_eyes_find_an_agent_behind_ssh(house):
    gaze = eyes(house, Server())
    gaze.standing = lambda pane: standing(pane, "ssh")
    life = Life(PaneId(1), EpochId(1), True, 0)
    for _ in range(2):
        gaze.take([Look(life, Capture(rows=("toy working",)), house.now())])
        await house.clock.advance(3)
    await house.knowing.stored()
    assert house.knowing.runtime_in(PaneId(1)).agent == "toy"


def test_a_burst_is_looked_at_when_it_has_settled():
    pace = Pace(due=100.0, looked=10.0)
    pace.stir(5, 20.0)
    assert pace.due == 20.5
    pace.look(20.5)
    pace.stir(6, 20.6)
    assert pace.due == 21.5
