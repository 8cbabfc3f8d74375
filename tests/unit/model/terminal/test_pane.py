"""Panes: an instance is told from every other, and what was not heard is not claimed."""

import msgspec
import pytest

from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.pane import PaneActivity, PaneFacts, PaneInstance, PaneView, ServerInstance
from termvisor.model.terminal.target import LOCAL

SERVER = ServerInstance(LOCAL.name, "/run/tmux/default", pid=10, started=500)


def test_the_same_id_on_a_server_that_was_started_again_is_another_pane() -> None:
    again = msgspec.structs.replace(SERVER, started=900)
    assert PaneInstance(SERVER, MuxPaneId("%0")) != PaneInstance(again, MuxPaneId("%0"))


def test_another_generation_is_another_pane() -> None:
    assert PaneInstance(SERVER, MuxPaneId("%0")) != PaneInstance(SERVER, MuxPaneId("%0"), generation=1)


def test_instances_are_keys() -> None:
    assert {PaneInstance(SERVER, MuxPaneId("%0")): 1}[PaneInstance(SERVER, MuxPaneId("%0"))] == 1


def test_a_value_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        PaneFacts(mux_id=MuxPaneId("%1"), pid=5).pid = 6  # type: ignore[misc]


def test_a_pane_of_which_nothing_was_heard_is_unknown_and_unproven() -> None:
    view = PaneView(
        id=PaneId(7), instance=PaneInstance(SERVER, MuxPaneId("%1")), facts=PaneFacts(mux_id=MuxPaneId("%1"), pid=5)
    )
    assert (view.activity, view.heard_by, view.last_output_at) == (PaneActivity(kind="unknown"), "none", None)
    assert not view.activity.is_proven
