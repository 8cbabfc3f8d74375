"""Classify why a pipe ended, and decide whether a pane needs a pipe."""

import pytest
from msgspec.structs import replace

from termvisor.backends.pane_source import PaneStatus
from termvisor.capture.pane_capture_state import PaneCaptureState, classify_pipe_end
from termvisor.model.ids import EpochId, MuxPaneId, PaneId
from termvisor.model.terminal.output import Epoch, Gap
from termvisor.model.terminal.pane import PaneFacts

FACTS = PaneFacts(mux_id=MuxPaneId("%1"), pid=7, session_id="$0")
ALIVE = PaneStatus(10, piped=False, dead=False)


@pytest.mark.parametrize(
    ("is_capped", "is_server_alive", "pane", "expected"),
    [
        (True, True, ALIVE, "disk_full"),
        (False, False, None, "server_gone"),
        (False, True, None, "pane_exited"),
        (False, True, PaneStatus(10, piped=True, dead=True), "pane_exited"),
        (False, True, PaneStatus(10, piped=True, dead=False), "pipe_stolen"),
        (False, True, ALIVE, "pipe_closed"),
    ],
)
def test_the_end_of_a_pipe_has_one_cause(is_capped, is_server_alive, pane, expected):
    state = "capped" if is_capped else "ended"
    assert classify_pipe_end(state, is_server_alive=is_server_alive, pane_status=pane) == expected


@pytest.mark.parametrize(
    ("is_piped", "is_foreign", "may_replace", "expected"),
    [
        (False, False, False, True),
        (True, False, False, False),
        (True, False, True, True),
        (False, True, False, False),
        (True, True, True, False),
    ],
)
def test_a_pipe_is_needed_only_if_no_other_program_uses_it(is_piped, is_foreign, may_replace, expected):
    state = PaneCaptureState(
        PaneId(1), MuxPaneId("%1"), is_piped=is_piped, is_pipe_foreign=is_foreign, can_replace_pipe=may_replace
    )
    assert state.needs_pipe is expected


@pytest.mark.parametrize(
    ("stream_state", "shown"),
    [
        ("open", ("pipe", None)),
        ("ended", ("none", None)),
        ("capped", ("none", "disk_full")),
        ("starved", ("none", "descriptors_exhausted")),
    ],
)
def test_a_pipe_that_the_recorder_closed_is_not_shown_as_captured(stream_state, shown):
    state = PaneCaptureState(PaneId(1), MuxPaneId("%1"), data_plane="pipe")
    assert state.describe_capture(stream_state) == shown


def test_the_first_cause_of_a_loss_is_shown_until_the_pane_is_captured_again():
    state = PaneCaptureState(PaneId(1), MuxPaneId("%1"), data_plane="pipe")
    state.note_lost("recorder_restart", 5.0)
    state.note_lost("link_down", 9.0)
    assert (state.describe_capture("open"), state.lost_at) == (("none", "recorder_restart"), 5.0)
    state.note_captured()
    assert state.describe_capture("open") == ("pipe", None)


@pytest.mark.parametrize(
    ("ended_by", "changes"),
    [
        ("joined", {}),
        ("pane_exited", {"is_dead": True}),
        ("pipe_stolen", {"is_pipe_foreign": True}),
        ("pipe_closed", {"is_pipe_foreign": True}),
        ("disk_full", {"can_replace_pipe": True}),
        ("descriptors_exhausted", {"can_replace_pipe": True}),
        ("link_down", {}),
    ],
)
def test_the_end_of_an_epoch_tells_about_the_pipe_and_the_pane(ended_by, changes):
    epoch = Epoch(id=EpochId(1), pane=PaneId(1), source="pipe", opened_at=1)
    running = {"handoff_pending_since": 1.0, "draining_since": 1.0, "end_cause": "pane_exited", "final_size": 3}
    state = PaneCaptureState(PaneId(1), MuxPaneId("%1"), epoch=epoch, data_plane="pipe", **running)
    assert state.note_end(ended_by) is epoch
    flags = {"is_dead": False, "is_pipe_foreign": False, "can_replace_pipe": False} | changes
    assert {name: getattr(state, name) for name in flags} == flags
    assert (state.epoch, state.data_plane, [getattr(state, name) for name in running]) == (None, "none", [None] * 4)
    assert state.note_end("pane_exited") is None
    assert state.is_dead is flags["is_dead"]


@pytest.mark.parametrize(
    ("gaps", "expected"),
    [
        ([], (False, False, None)),
        ([("link_down", None, None)], (False, False, None)),
        ([("link_down", 3, None)], (False, True, "link_down")),
        ([("link_down", 3, 9)], (False, True, None)),
        ([("pipe_stolen", None, 9)], (True, False, None)),
        ([("pipe_closed", 3, None), ("link_down", 4, None)], (True, True, "pipe_closed")),
    ],
)
def test_the_gaps_of_an_earlier_daemon_tell_about_the_pane(gaps, expected):
    state = PaneCaptureState(PaneId(1), MuxPaneId("%1"))
    stored = [Gap(pane=PaneId(1), cause=cause, start_at=1, after=after, end_at=end) for cause, after, end in gaps]
    state.note_earlier_gaps(stored, 5.0)
    assert (state.is_pipe_foreign, state.was_captured, state.gap_cause) == expected
    assert state.lost_at == (5.0 if expected[2] else 0.0)


def test_facts_replace_those_before_and_end_the_right_to_a_closed_pipe():
    state = PaneCaptureState(PaneId(1), MuxPaneId("%1"), can_replace_pipe=True)
    state.update_facts(replace(FACTS, dead=True, piped=True))
    assert (state.is_dead, state.is_piped, state.pid) == (True, True, 7)
    assert state.can_replace_pipe
    state.update_facts(FACTS)
    assert (state.can_replace_pipe, state.is_dead, state.is_piped) == (False, False, False)
