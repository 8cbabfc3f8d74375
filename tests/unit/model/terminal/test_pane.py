"""Identity of pane instances, and defaults of unknown panes."""

import msgspec
import pytest

from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.pane import PaneActivity, PaneFacts, PaneInstance, PaneView, ServerInstance
from termvisor.model.terminal.target import LOCAL

SERVER = ServerInstance(LOCAL.name, "/run/tmux/default", pid=10, started=500)


def test_same_id_on_a_restarted_server_is_another_pane() -> None:
    again = msgspec.structs.replace(SERVER, started=900)
    assert PaneInstance(SERVER, MuxPaneId("%0")) != PaneInstance(again, MuxPaneId("%0"))


def test_another_generation_is_another_pane() -> None:
    assert PaneInstance(SERVER, MuxPaneId("%0")) != PaneInstance(SERVER, MuxPaneId("%0"), generation=1)


def test_pane_instances_are_hashable() -> None:
    assert {PaneInstance(SERVER, MuxPaneId("%0")): 1}[PaneInstance(SERVER, MuxPaneId("%0"))] == 1


def test_a_value_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        PaneFacts(mux_id=MuxPaneId("%1"), pid=5).pid = 6  # type: ignore[misc]


def test_pane_without_captured_output_is_unknown_and_unproven() -> None:
    view = PaneView(
        id=PaneId(7), instance=PaneInstance(SERVER, MuxPaneId("%1")), facts=PaneFacts(mux_id=MuxPaneId("%1"), pid=5)
    )
    assert (view.activity, view.heard_by, view.last_output_at) == (PaneActivity(kind="unknown"), "none", None)
    assert not view.activity.is_proven


@pytest.mark.parametrize(
    ("stored", "running", "expected"),
    [("a", "a", True), ("a", "b", False), ("", "b", True), ("a", "", True)],
    ids=["same boot", "another boot", "stored without a boot", "unknown boot"],
)
def test_a_process_id_that_repeats_after_a_reboot_is_another_server(stored, running, expected) -> None:
    before, now = (msgspec.structs.replace(SERVER, boot=boot) for boot in (stored, running))
    assert before.is_same_process(now) is expected


def test_the_same_address_on_another_target_is_another_server() -> None:
    elsewhere = msgspec.structs.replace(SERVER, target="box")
    assert SERVER.key != elsewhere.key and not SERVER.is_same_process(elsewhere)
