"""Capture panes of a tmux server and with a recorder that fail on demand; the store and the pipeline are real."""

from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from termvisor.backends.pane_source import PaneCapture, PaneStatus, StartedCapture
from termvisor.capture.pane_capture import PaneCaptureController
from termvisor.capture.pane_capture_state import PaneCaptureState
from termvisor.capture.raw_log import DiskSpaceProbe
from termvisor.capture.recorder_client import RecordedStream
from termvisor.capture.segment_sink import SegmentSink
from termvisor.errors import MuxError
from termvisor.model.ids import EpochId, MuxPaneId
from termvisor.model.terminal.pane import PaneFacts, PaneInstance
from tests.unit.capture.capture_harness import SERVER, CaptureStore

SCREEN = PaneCapture(rows=("$ ",), width=80, height=24)
FACTS = PaneFacts(mux_id=MuxPaneId("%1"), pid=7, session_id="$0", width=80, height=24)


class FaultyServer:
    """A server whose next answers a test sets; an exception is raised. Its panes can be captured by a pipe only."""

    instance = SERVER

    def __init__(self):
        self.is_alive = True
        self.opened, self.statuses = SCREEN, {}
        self.requests: list[tuple] = []

    def choose_channel(self, mux_id, *, can_pipe):
        return "pipe" if can_pipe else "none"

    async def start_capture(self, mux_id, epoch, sink, *, lines, replace):
        self.requests.append(("open", mux_id, f"{epoch.source} {epoch.pane}/{epoch.id}", lines, replace))
        opened = self._answer(self.opened)
        is_opened = isinstance(opened, PaneCapture)
        return StartedCapture(data_plane="pipe", capture=opened, awaits_recorder=True) if is_opened else opened

    async def list_pane_statuses(self):
        return self._answer(self.statuses)

    async def stop_capture(self, mux_id, epoch):
        self.requests.append(("close", mux_id))
        self._answer(self.opened)

    @staticmethod
    def _answer(value):
        if isinstance(value, Exception):
            raise value
        return value


class FaultyRecorder:
    """A recorder that holds no pipe; ``messages`` has the requests that it got."""

    is_connected, is_starved = True, False

    def __init__(self, folder: str):
        self.streams: dict[EpochId, RecordedStream] = {}
        self.disk_space = DiskSpaceProbe(f"{folder}/raw")
        self.messages: list[tuple[str, EpochId]] = []

    def drop_stream(self, epoch) -> None:
        self.messages.append(("drop", epoch))

    def forget_stream(self, epoch) -> None:
        self.messages.append(("forget", epoch))
        self.streams.pop(epoch, None)

    def is_stream_open(self, epoch) -> bool:
        return epoch in self.streams and self.streams[epoch].state == "open"


class FaultScene:
    """A controller with one adopted pane."""

    def __init__(self, store: CaptureStore, folder: str):
        self.store, self.server, self.recorder = store, FaultyServer(), FaultyRecorder(folder)
        sink = SegmentSink(store.epochs, self.recorder, segment_bytes=1 << 20, report=lambda lost: None)
        self.captures = PaneCaptureController(
            self.server,
            epochs=store.epochs,
            recorder=self.recorder,
            sink=sink,
            resumable_epochs={},
            get_baseline_lines=lambda: 100,
            is_server_alive=lambda: self.server.is_alive,
        )

    async def adopt(self, facts: PaneFacts = FACTS) -> PaneCaptureState:
        pane, _ = await self.store.store.panes.find_or_add(PaneInstance(SERVER, facts.mux_id), facts, 1)
        await self.captures.adopt_pane(pane, facts)
        return self.captures.find_pane(facts.mux_id)

    async def report(self, state: PaneCaptureState, stream_state: str, size: int = 0) -> None:
        stream = RecordedStream(state.pane, state.epoch.id, size, stream_state)
        self.recorder.streams[stream.epoch] = stream
        await self.captures.handle_stream_update(stream)

    async def capture(self) -> PaneCaptureState:
        """Adopt the pane, and let its pipe reach the recorder."""
        state = await self.adopt()
        await self.captures.run_step()
        await self.report(state, "open")
        return state

    async def list_gaps(self) -> list[tuple[str, bool, str]]:
        return [(gap.cause, gap.end_at is None, gap.detail) for gap in await self.store.list_gaps()]

    def pass_time(self, seconds: float) -> None:
        self.store.clock.advance_s += seconds


@pytest.fixture
async def scene(capture_store: CaptureStore, folder: str) -> FaultScene:
    return FaultScene(capture_store, folder)


async def test_a_pipe_is_opened_with_its_baseline_and_counts_once_it_reached_the_recorder(scene):
    state = await scene.adopt()
    assert (scene.captures.describe_capture(FACTS.mux_id), scene.captures.is_settled) == (("none", None), False)
    assert not await scene.captures.run_step()
    assert scene.server.requests == [("open", "%1", f"pipe {state.pane}/{state.epoch.id}", 100, False)]
    assert not scene.captures.is_settled
    await scene.report(state, "open")
    assert (scene.captures.describe_capture(FACTS.mux_id), scene.captures.is_settled) == (("pipe", None), True)
    scene.recorder.streams[state.epoch.id] = replace(scene.recorder.streams[state.epoch.id], state="capped")
    assert scene.captures.describe_capture(FACTS.mux_id) == ("none", "disk_full")
    assert scene.captures.describe_capture(MuxPaneId("%9")) == ("none", None)


async def test_a_server_that_does_not_answer_is_one_gap_and_retried_with_delay(scene):
    scene.server.opened = MuxError("tmux did not answer")
    state = await scene.adopt()
    await scene.captures.run_step()
    await scene.captures.run_step()
    assert len(scene.server.requests) == 1
    (epoch,) = await scene.store.list_epochs(state.pane)
    assert (epoch.ended_by, scene.recorder.messages) == ("joined", [("drop", epoch.id)])
    assert scene.captures.is_settled
    for _ in range(4):
        scene.pass_time(40)
        await scene.captures.run_step()
    assert await scene.list_gaps() == [("link_down", True, "tmux did not answer")]
    (alert,) = scene.store.event_log.alerts.values()
    assert alert.startswith(f"capturing pane {state.pane} keeps failing")
    scene.server.opened = SCREEN
    scene.pass_time(400)
    await scene.captures.run_step()
    await scene.report(state, "open")
    await scene.captures.run_step()
    assert (await scene.list_gaps(), scene.store.event_log.alerts) == (
        [("link_down", False, "tmux did not answer")],
        {},
    )
    # A pipe that tmux opened although its answer was lost is dropped when it arrives.
    await scene.captures.handle_stream_update(RecordedStream(state.pane, epoch.id, 0, "open"))
    assert scene.recorder.messages[-1] == ("drop", epoch.id)
    await scene.captures.handle_stream_update(RecordedStream(state.pane, epoch.id, 0, "ended"))
    assert scene.recorder.messages[-1] == ("forget", epoch.id)


async def test_a_failure_of_a_dead_server_is_no_gap(scene):
    scene.server.opened, scene.server.is_alive = MuxError("gone"), False
    await scene.adopt()
    await scene.captures.run_step()
    assert await scene.list_gaps() == []


@pytest.mark.parametrize(("refusal", "is_piped", "is_dead"), [("piped", True, False), ("dead", False, True)])
async def test_a_pipe_that_tmux_refuses_ends_its_epoch_without_a_gap(scene, refusal, is_piped, is_dead):
    scene.server.opened = refusal
    state = await scene.adopt()
    await scene.captures.run_step()
    assert (state.is_piped, state.is_dead, state.epoch) == (is_piped, is_dead, None)
    assert (await scene.store.list_end_causes(state.pane), await scene.list_gaps()) == (["joined"], [])
    await scene.captures.run_step()
    reason = "another program uses its pipe, and a control client cannot attach to its session"
    assert await scene.list_gaps() == ([("link_down", True, reason)] if is_piped else [])


@pytest.mark.parametrize(
    ("name", "value"),
    [("is_connected", False), ("disk_space", SimpleNamespace(has_space=lambda now: False, problem=""))],
)
async def test_no_pipe_is_opened_without_a_recorder_or_space(scene, name, value):
    setattr(scene.recorder, name, value)
    await scene.adopt()
    await scene.captures.run_step()
    assert scene.server.requests == []
    assert scene.captures.is_settled is (name == "is_connected")


@pytest.mark.parametrize(("is_starved", "cause"), [(False, "recorder_restart"), (True, "descriptors_exhausted")])
async def test_a_pipe_that_never_reaches_the_recorder_is_a_gap_with_its_cause(scene, is_starved, cause):
    state = await scene.adopt()
    await scene.captures.run_step()
    epoch, scene.recorder.is_starved = state.epoch.id, is_starved
    scene.pass_time(5.9)
    await scene.captures.run_step()
    assert state.epoch is not None
    scene.pass_time(0.2)
    await scene.captures.run_step()
    assert await scene.list_gaps() == [(cause, True, "the pipe did not reach the recorder")]
    assert (state.gap_cause, state.retry_at > 0, state.handoff_pending_since) == (cause, True, None)
    await scene.captures.handle_stream_update(RecordedStream(state.pane, epoch, 0, "open"))
    assert scene.recorder.messages[-1] == ("drop", epoch)


@pytest.mark.parametrize(
    ("statuses", "is_alive", "cause"),
    [
        ({"%1": PaneStatus(7, piped=True, dead=False)}, True, "pipe_stolen"),
        ({"%1": PaneStatus(7, piped=False, dead=False)}, True, "pipe_closed"),
        (MuxError("no answer"), False, "server_gone"),
    ],
)
async def test_the_end_of_a_pipe_is_a_gap_with_its_cause(scene, statuses, is_alive, cause):
    state = await scene.capture()
    scene.server.statuses, scene.server.is_alive = statuses, is_alive
    await scene.report(state, "ended")
    assert [one[0] for one in await scene.list_gaps()] == [cause]
    assert (state.epoch, state.data_plane, state.is_pipe_foreign) == (None, "none", cause.startswith("pipe_"))


@pytest.mark.parametrize(("is_alive", "cause"), [(True, "tail_uncertain"), (False, "server_gone")])
async def test_a_pane_that_exits_is_checked_again_before_its_epoch_ends(scene, is_alive, cause):
    state = await scene.capture()
    await scene.report(state, "ended")
    await scene.captures.run_step()
    assert (state.end_cause, await scene.list_gaps()) == ("pane_exited", [])
    scene.server.is_alive = is_alive
    scene.pass_time(0.4)
    await scene.captures.run_step()
    assert await scene.list_gaps() == [(cause, False, "")]


@pytest.mark.parametrize(("stream", "cause"), [("capped", "disk_full"), ("starved", "descriptors_exhausted")])
async def test_a_pipe_that_the_recorder_closed_is_opened_again_in_its_place(scene, stream, cause):
    state = await scene.capture()
    await scene.report(state, stream)
    assert [one[0] for one in await scene.list_gaps()] == [cause]
    assert (state.can_replace_pipe, bool(scene.recorder.disk_space.write_error)) == (True, stream == "capped")
    assert (state.retry_at > 0) is (stream == "starved")
    scene.pass_time(100)
    await scene.captures.run_step()
    assert scene.server.requests[-1][-1] is True


async def test_a_released_pane_that_was_captured_or_missed_gets_no_second_gap(scene):
    for flags in ({"was_captured": True}, {"is_miss_recorded": True}):
        state = await scene.adopt()
        for name, value in flags.items():
            setattr(state, name, value)
        await scene.captures.release_pane(FACTS.mux_id)
    await scene.adopt()
    await scene.captures.release_pane(FACTS.mux_id, "server_gone")
    await scene.captures.release_pane(FACTS.mux_id)
    assert await scene.list_gaps() == []
    await scene.adopt()
    await scene.captures.release_all("pane_exited")
    assert await scene.list_gaps() == [("link_down", False, "it was closed before its capture started")]


async def test_a_released_pane_whose_end_is_never_reported_is_dropped_and_then_ended(scene):
    state = await scene.capture()
    epoch = state.epoch.id
    await scene.captures.release_pane(FACTS.mux_id)
    scene.pass_time(2.1)
    await scene.captures.run_step()
    assert (scene.recorder.messages[-1], scene.captures.is_drained) == (("drop", epoch), False)
    del scene.recorder.streams[epoch]
    await scene.captures.run_step()
    assert (scene.captures.is_drained, await scene.list_gaps()) == (True, [("tail_uncertain", False, "")])


async def test_the_death_of_the_recorder_ends_the_gaps_of_released_panes_only(scene):
    released, kept = await scene.capture(), await scene.adopt(replace(FACTS, mux_id=MuxPaneId("%2")))
    await scene.captures.run_step()
    await scene.captures.release_pane(FACTS.mux_id)
    await scene.captures.handle_recorder_death()
    assert scene.captures.is_drained
    gaps = {gap.pane: (gap.cause, gap.end_at is None) for gap in await scene.store.list_gaps()}
    assert gaps == {released.pane: ("recorder_restart", False), kept.pane: ("recorder_restart", True)}
    assert kept.can_replace_pipe


@pytest.mark.parametrize(("keep_pipes", "answer"), [(True, SCREEN), (False, SCREEN), (False, MuxError("gone"))])
async def test_stopping_closes_our_pipes_unless_they_are_kept(scene, keep_pipes, answer):
    await scene.capture()
    theirs = await scene.adopt(replace(FACTS, mux_id=MuxPaneId("%2")))
    await scene.captures.run_step()
    theirs.handoff_pending_since = None
    scene.server.opened, scene.server.requests = answer, []
    await scene.captures.stop(keep_pipes=keep_pipes)
    assert scene.server.requests == ([] if keep_pipes else [("close", "%1")])
    assert (scene.captures.is_drained, scene.captures.find_pane(FACTS.mux_id)) == (keep_pipes, None)


async def test_only_some_hand_offs_are_pending_at_once(scene):
    for number in range(20):
        await scene.adopt(replace(FACTS, mux_id=MuxPaneId(f"%{number}")))
    assert [await scene.captures.run_step() for _ in range(6)] == [True, True, True, False, False, False]
    assert len(scene.server.requests) == 16
