"""Events: every kind is declared, described and named as a fact."""

import re

import msgspec

from termvisor.model.event import EVENT_KINDS, Event


def test_every_kind_is_snake_case_and_described_in_a_sentence() -> None:
    assert [kind for kind in EVENT_KINDS if not re.fullmatch(r"[a-z]+(_[a-z]+)*", kind)] == []
    assert [kind for kind, doc in EVENT_KINDS.items() if not re.fullmatch(r"[A-Z].+\.", doc)] == []


def test_an_event_survives_the_wire() -> None:
    event = Event(at=5, kind="pane_died", data={"status": 1, "signal": None, "is_ours": False, "rate": 0.5})
    assert msgspec.json.decode(msgspec.json.encode(event), type=Event) == event


def test_two_events_do_not_share_their_data() -> None:
    assert Event(at=1, kind="alert").data is not Event(at=2, kind="alert").data
