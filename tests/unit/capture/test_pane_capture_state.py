"""Classify why a pipe ended, and decide whether a pane needs a pipe."""

import pytest

from termvisor.backends.pane_source import PaneStatus
from termvisor.capture.pane_capture_state import PaneCaptureState, classify_pipe_end
from termvisor.model.ids import MuxPaneId, PaneId

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
    assert classify_pipe_end(is_capped=is_capped, is_server_alive=is_server_alive, pane_status=pane) == expected


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
        PaneId(1), MuxPaneId("%1"), "$0", is_piped=is_piped, is_pipe_foreign=is_foreign, can_replace_pipe=may_replace
    )
    assert state.needs_pipe is expected
