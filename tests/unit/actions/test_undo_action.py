"""The inverse of an action, built from its audit entry."""

import pytest
from msgspec.structs import replace

from termvisor.actions.undo_action import build_inverse
from termvisor.clock import NS
from termvisor.errors import NotUndoable, StaleSnapshot
from termvisor.model.action.action import RISK_BY_ACTION_KIND, Activate, Actor, Kill, Release, SendKeys, SetTitle
from termvisor.model.action.audit import AuditEntry
from termvisor.model.action.undo import UndoPrecondition
from termvisor.model.ids import MuxPaneId, PaneId, TargetName
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, PaneView, ServerInstance

ME = Actor(kind="human", uid=1000, pid=1)
AT = 1000 * NS
HERE = ServerInstance(TargetName("local"), "/tmp/a", 10, 1)
ELSEWHERE = ServerInstance(TargetName("local"), "/tmp/b", 20, 1)


def pane(number: int, mux_id: str, pid: int = 0, server: ServerInstance = HERE, **more) -> PaneView:
    instance = PaneInstance(server, MuxPaneId(mux_id))
    facts = PaneFacts(mux_id=MuxPaneId(mux_id), pid=pid or 100 + number)
    return PaneView(id=PaneId(number), instance=instance, facts=facts, **{"first_seen_at": AT, **more})


def done(kind: str, observed: dict | None = None, **more) -> AuditEntry:
    known = {"at": AT, "correlation": "c1", "stage": "outcome", "kind": kind, "actor": ME, "outcome": "done"}
    return AuditEntry(**{**known, "pane": PaneId(1), "observed": observed or {}, **more})


PANES = [pane(1, "%1"), pane(2, "%2"), pane(3, "%2", server=ELSEWHERE)]


def test_a_title_is_restored_while_ours_is_set():
    found = build_inverse(done("set_title", {"former_title": "before", "title": "ours"}), PANES)
    assert found.action == SetTitle(pane=1, title="before")
    assert found.undoes == UndoPrecondition(correlation="c1", title="ours")


def test_the_former_active_pane_is_on_the_same_server():
    found = build_inverse(done("activate", {"former_front": "%2"}), PANES)
    assert (found.action, found.undoes.front) == (Activate(pane=2), "%1")


@pytest.mark.parametrize(
    ("command", "is_alone"), [([], True), (["/bin/bash", "-l"], True), (["claude"], False), (["make", "watch"], False)]
)
def test_a_shell_must_have_no_child_processes(command, is_alone):
    spawned = done("spawn", {"mux_pane": "%2", "pid": 102}, action={"command": command})
    found = build_inverse(spawned, PANES)
    assert found.action == Kill(pane=2, closes_pane=True)
    assert found.undoes == UndoPrecondition(correlation="c1", is_alone=is_alone)


@pytest.mark.parametrize(
    "other",
    [
        pane(2, "%2", 999),
        pane(2, "%2", 102, gone_at=AT + 1),
        pane(2, "%2", 102, first_seen_at=AT - 60 * NS),
    ],
    ids=["another process", "gone", "seen long before"],
)
def test_a_pane_that_is_not_the_spawned_one_is_left_alone(other):
    with pytest.raises(StaleSnapshot) as told:
        build_inverse(done("spawn", {"mux_pane": "%2", "pid": 102}), [other])
    assert told.value.details["why"] == "pane_gone"


def test_a_reservation_is_released_also_when_its_pane_is_gone():
    found = build_inverse(done("reserve", {"reservation": 7, "is_longer": False}), [])
    assert found.action == Release(pane=1, reservation=7)


def test_only_a_text_that_waits_is_cleared():
    waiting = done("send_text", outcome="typed_not_submitted")
    found = build_inverse(waiting, PANES)
    assert (found.action, found.undoes.is_typed) == (SendKeys(pane=1, keys=("C-u",)), True)
    with pytest.raises(NotUndoable, match="has read the text"):
        build_inverse(replace(waiting, outcome="delivered"), PANES)


@pytest.mark.parametrize(
    "kind", sorted({*RISK_BY_ACTION_KIND} - {"set_title", "activate", "spawn", "reserve", "send_text"})
)
def test_other_actions_cannot_be_undone(kind):
    with pytest.raises(NotUndoable, match=f"{kind} c1 cannot be undone"):
        build_inverse(done(kind), PANES)


@pytest.mark.parametrize("kind", ["set_title", "activate", "reserve"])
def test_an_entry_without_former_values_cannot_be_undone(kind):
    with pytest.raises(NotUndoable, match="cannot be undone"):
        build_inverse(done(kind), PANES)


@pytest.mark.parametrize("panes", [[], [pane(1, "%1", gone_at=AT + 1)]])
def test_a_missing_pane_is_an_error(panes):
    with pytest.raises(StaleSnapshot, match="nothing was done"):
        build_inverse(done("set_title", {"former_title": "before", "title": "ours"}), panes)
