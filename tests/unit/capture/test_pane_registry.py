"""Compute the changes between two pane listings."""

from msgspec.structs import replace

from termvisor.capture.pane_registry import diff_listings
from termvisor.model.ids import MuxPaneId
from termvisor.model.terminal.pane import PaneFacts

ONE = PaneFacts(
    mux_id=MuxPaneId("%1"), pid=10, pid_started=5, session_id="$0", session_name="work", window_id="@0", command="sh"
)
TWO = replace(ONE, mux_id=MuxPaneId("%2"), pid=11)


def list_change_kinds(old, new):
    changes = diff_listings({facts.mux_id: facts for facts in old}, {facts.mux_id: facts for facts in new})
    return [(change.kind, change.mux_id) for change in changes]


def test_equal_listings_have_no_changes():
    assert list_change_kinds([ONE, TWO], [ONE, TWO]) == []


def test_gone_panes_are_reported_before_new_ones():
    assert list_change_kinds([ONE], [TWO]) == [("pane_gone", "%1"), ("pane_appeared", "%2")]


def test_another_process_in_the_same_pane_is_another_instance():
    respawned = [("pane_gone", "%1"), ("pane_appeared", "%1"), ("pane_respawned", "%1")]
    assert list_change_kinds([ONE], [replace(ONE, pid=12)]) == respawned
    assert list_change_kinds([ONE], [replace(ONE, pid_started=6)]) == respawned
    assert list_change_kinds([replace(ONE, dead=True, pid_started=0)], [replace(ONE, pid=12)]) == respawned


def test_a_process_that_just_exited_is_no_other_instance():
    assert list_change_kinds([ONE], [replace(ONE, pid_started=0)]) == []
    assert list_change_kinds([ONE], [replace(ONE, pid=0, dead=True)]) == [("pane_died", "%1")]


def test_a_program_that_exits_in_a_remaining_pane_is_died():
    assert list_change_kinds([ONE], [replace(ONE, dead=True, dead_status=3)]) == [("pane_died", "%1")]


def test_a_moved_pane_is_not_renamed():
    assert list_change_kinds([ONE], [replace(ONE, session_id="$1", session_name="other")]) == [("pane_moved", "%1")]
    assert list_change_kinds([ONE], [replace(ONE, window_name="logs")]) == [("pane_renamed", "%1")]
