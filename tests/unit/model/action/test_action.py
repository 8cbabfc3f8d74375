from typing import get_args

import pytest

from termvisor.model.action.action import (
    RISK_BY_ACTION_KIND,
    Action,
    Activate,
    Attach,
    Kill,
    Notify,
    SendKeys,
    SendText,
    Spawn,
    assess_risk,
    find_action_pane,
    find_checked_pane,
    get_action_kind,
)
from termvisor.model.ids import PaneId

PANE = PaneId(7)


def test_every_kind_has_a_risk() -> None:
    kinds = {str(cls.__struct_config__.tag) for cls in get_args(Action)}
    assert kinds <= set(RISK_BY_ACTION_KIND)


@pytest.mark.parametrize(
    ("action", "kind", "risk"),
    [
        (SendText(pane=PANE, text="x"), "send_text", "input"),
        (SendKeys(pane=PANE, keys=("a",)), "send_keys", "input"),
        (Attach(pane=PANE), "attach", "look"),
        (Activate(pane=PANE), "activate", "reversible"),
        (Kill(pane=PANE), "kill", "process"),
        (Kill(pane=PANE, signal="KILL"), "kill", "destructive"),
        (Kill(pane=PANE, closes_pane=True), "kill", "destructive"),
        (Notify(title="", text=""), "notify", "reversible"),
        (Notify(title="", text="", way="webhook"), "notify", "outside"),
    ],
)
def test_an_action_has_a_kind_and_a_risk(action: Action, kind: str, risk: str) -> None:
    assert (get_action_kind(action), assess_risk(action)) == (kind, risk)


def test_pane_of_an_action() -> None:
    assert find_action_pane(SendText(pane=PANE, text="x")) == PANE
    assert find_action_pane(Spawn(where="pane", beside=PANE)) == PANE
    assert find_action_pane(Notify(title="", text="")) is None


def test_notification_mentions_a_pane_without_acting_on_it() -> None:
    notice = Notify(title="", text="", pane=PANE)
    assert (find_action_pane(notice), find_checked_pane(notice), find_checked_pane(Kill(pane=PANE))) == (
        PANE,
        None,
        PANE,
    )
