"""Looks at agents' screens: not too often, not too seldom, and never at panes without one for nothing."""

from termvisor.agents.tracking import AgentScreenSampler, RemoteAgentDetector, SignalReader
from termvisor.agents.tracking.agent_screen_sampler import AgentSamplingPace
from termvisor.backends.pane_source import PaneCapture
from termvisor.capture.screen_sampler import ScreenSample
from termvisor.errors import MuxError
from termvisor.model.ids import EpochId, MuxPaneId, PaneId
from termvisor.model.terminal.screen_row import ScreenLifetime
from tests.unit.agents.tracking.tracker_scene import build_agent_started, build_pane_info, build_registry

KEY = "sk-ant-api03-" + "aB3dE6gH9" * 10


class Server:
    """Shows what it is told to, and counts who looks."""

    def __init__(self, *rows: str):
        self.rows, self.looked, self.is_down = rows, 0, False

    async def capture_screens(self, panes):
        self.looked += 1
        if self.is_down:
            raise MuxError("no answer")
        return [PaneCapture(rows=self.rows, width=80, height=24) for _ in panes]


def eyes(tracker_scene, server: Server) -> AgentScreenSampler:
    hearing = SignalReader(tracker_scene.tracker, build_registry(), tracker_scene.clock)
    gaze = AgentScreenSampler(
        tracker_scene.tracker,
        hearing,
        RemoteAgentDetector(tracker_scene.tracker, build_registry(), tracker_scene.clock),
        tracker_scene.clock,
    )
    gaze.locate_pane = lambda pane: (server, MuxPaneId("%1"))
    hearing.get_moved_at = lambda pane: tracker_scene.now()
    return gaze


async def looks_in(tracker_scene, gaze: AgentScreenSampler, server: Server, seconds: float) -> int:
    before = server.looked
    for _ in range(int(seconds * 2)):
        await tracker_scene.clock.advance(0.5)
        await gaze.sample_due_panes()
    return server.looked - before


async def test_nobody_is_looked_at_where_no_agent_lives(tracker_scene):
    server = Server("toy working")
    assert await looks_in(tracker_scene, eyes(tracker_scene, server), server, 10) == 0


async def test_a_pane_that_moves_is_looked_at_once_a_second_and_a_quiet_one_ever_more_seldom(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    server = Server("toy working")
    gaze = eyes(tracker_scene, server)
    assert 8 <= await looks_in(tracker_scene, gaze, server, 10) <= 11
    still = tracker_scene.now()
    gaze._signal_reader.get_moved_at = lambda pane: still
    assert 7 <= await looks_in(tracker_scene, gaze, server, 16) <= 9
    await looks_in(tracker_scene, gaze, server, 120)
    assert await looks_in(tracker_scene, gaze, server, 120) == 4


async def test_what_is_seen_becomes_the_agents_state_without_its_secrets(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    server = Server(f"key {KEY}", "toy blocked")
    gaze = eyes(tracker_scene, server)
    await gaze.sample_due_panes()
    await tracker_scene.tracker.wait_stored()
    assert (tracker_scene.states[0].value, tracker_scene.states[0].source) == ("waiting_approval", "screen")
    (glance,) = gaze._signal_reader._last_screens.values()
    assert KEY[:30] not in str(glance.rows)


async def test_a_server_that_does_not_answer_is_asked_again_later(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    server = Server("toy working")
    server.is_down = True
    gaze = eyes(tracker_scene, server)
    assert await looks_in(tracker_scene, gaze, server, 4) > 1
    assert tracker_scene.states[0].value == "unknown"


async def test_what_the_eyes_saw_needs_no_look_of_our_own(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    server = Server("toy working")
    gaze = eyes(tracker_scene, server)
    await gaze.sample_due_panes()
    life = ScreenLifetime(PaneId(1), EpochId(1), True, 0)
    before = server.looked
    for _ in range(10):
        await tracker_scene.clock.advance(0.5)
        gaze.add_captures([ScreenSample(life, PaneCapture(rows=("toy asking",)), tracker_scene.now())])
        await gaze.sample_due_panes()
    await tracker_scene.tracker.wait_stored()
    assert (server.looked, tracker_scene.states[0].value) == (before, "waiting_input")


async def test_the_eyes_find_an_agent_behind_ssh(tracker_scene):
    gaze = eyes(tracker_scene, Server())
    gaze.get_pane_info = lambda pane: build_pane_info(pane, "ssh")
    life = ScreenLifetime(PaneId(1), EpochId(1), True, 0)
    for _ in range(2):
        gaze.add_captures([ScreenSample(life, PaneCapture(rows=("toy working",)), tracker_scene.now())])
        await tracker_scene.clock.advance(3)
    await tracker_scene.tracker.wait_stored()
    assert tracker_scene.tracker.find_agent_in_pane(PaneId(1)).agent == "toy"


def test_a_burst_is_looked_at_when_it_has_settled():
    pace = AgentSamplingPace(due_at=100.0, sampled_at=10.0)
    pace.record_output(5, 20.0)
    assert pace.due_at == 20.5
    pace.record_sample(20.5)
    pace.record_output(6, 20.6)
    assert pace.due_at == 21.5
