"""Sampling the screens of agents at the right rate."""

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
    sampler = AgentScreenSampler(
        tracker_scene.tracker,
        hearing,
        RemoteAgentDetector(tracker_scene.tracker, build_registry(), tracker_scene.clock),
        tracker_scene.clock,
    )
    sampler.locate_pane = lambda pane: (server, MuxPaneId("%1"))
    hearing.get_moved_at = lambda pane: tracker_scene.now()
    return sampler


async def looks_in(tracker_scene, sampler: AgentScreenSampler, server: Server, seconds: float) -> int:
    before = server.looked
    for _ in range(int(seconds * 2)):
        await tracker_scene.clock.advance(0.5)
        await sampler.sample_due_panes()
    return server.looked - before


async def test_panes_without_agents_are_not_sampled(tracker_scene):
    server = Server("toy working")
    assert await looks_in(tracker_scene, eyes(tracker_scene, server), server, 10) == 0


async def test_a_quiet_pane_is_sampled_less_often(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    server = Server("toy working")
    sampler = eyes(tracker_scene, server)
    assert 8 <= await looks_in(tracker_scene, sampler, server, 10) <= 11
    still = tracker_scene.now()
    sampler._signal_reader.get_moved_at = lambda pane: still
    assert 7 <= await looks_in(tracker_scene, sampler, server, 16) <= 9
    await looks_in(tracker_scene, sampler, server, 120)
    assert await looks_in(tracker_scene, sampler, server, 120) == 4


async def test_a_sample_becomes_a_redacted_state(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    server = Server(f"key {KEY}", "toy blocked")
    sampler = eyes(tracker_scene, server)
    await sampler.sample_due_panes()
    await tracker_scene.tracker.wait_stored()
    assert (tracker_scene.states[0].value, tracker_scene.states[0].source) == ("waiting_approval", "screen")
    (glance,) = sampler._signal_reader._last_screens.values()
    assert KEY[:30] not in str(glance.rows)


async def test_a_failed_capture_is_retried_later(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    server = Server("toy working")
    server.is_down = True
    sampler = eyes(tracker_scene, server)
    assert await looks_in(tracker_scene, sampler, server, 4) > 1
    assert tracker_scene.states[0].value == "unknown"


async def test_captures_of_the_screen_sampler_are_reused(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    server = Server("toy working")
    sampler = eyes(tracker_scene, server)
    await sampler.sample_due_panes()
    life = ScreenLifetime(PaneId(1), EpochId(1), True, 0)
    before = server.looked
    for _ in range(10):
        await tracker_scene.clock.advance(0.5)
        sampler.add_captures([ScreenSample(life, PaneCapture(rows=("toy asking",)), tracker_scene.now())])
        await sampler.sample_due_panes()
    await tracker_scene.tracker.wait_stored()
    assert (server.looked, tracker_scene.states[0].value) == (before, "waiting_input")


async def test_a_capture_finds_an_agent_behind_ssh(tracker_scene):
    sampler = eyes(tracker_scene, Server())
    sampler.get_pane_info = lambda pane: build_pane_info(pane, "ssh")
    life = ScreenLifetime(PaneId(1), EpochId(1), True, 0)
    for _ in range(2):
        sampler.add_captures([ScreenSample(life, PaneCapture(rows=("toy working",)), tracker_scene.now())])
        await tracker_scene.clock.advance(3)
    await tracker_scene.tracker.wait_stored()
    assert tracker_scene.tracker.find_agent_in_pane(PaneId(1)).agent == "toy"


def test_a_burst_is_sampled_when_settled():
    pace = AgentSamplingPace(due_at=100.0, sampled_at=10.0)
    pace.record_output(5, 20.0)
    assert pace.due_at == 20.5
    pace.record_sample(20.5)
    pace.record_output(6, 20.6)
    assert pace.due_at == 21.5
