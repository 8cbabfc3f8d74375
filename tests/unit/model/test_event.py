"""Events: every kind is declared, described and named as a fact."""

import re

import msgspec
import pytest

from termvisor.detection.packs import load_packs
from termvisor.model.event import (
    EVENT_KINDS,
    EVENT_TYPES,
    ONE_PER_AGENT_TYPES,
    Event,
    is_event_type,
)


def test_every_kind_is_snake_case_and_described_in_a_sentence() -> None:
    assert [kind for kind in EVENT_KINDS if not re.fullmatch(r"[a-z]+(_[a-z]+)*", kind)] == []
    assert [kind for kind, doc in EVENT_KINDS.items() if not re.fullmatch(r"[A-Z].+\.", doc)] == []


def test_an_event_survives_encoding() -> None:
    event = Event(at=5, kind="pane_died", data={"status": 1, "signal": None, "is_ours": False, "rate": 0.5})
    assert msgspec.json.decode(msgspec.json.encode(event), type=Event) == event


def test_two_events_do_not_share_their_data() -> None:
    assert Event(at=1, kind="alert").data is not Event(at=2, kind="alert").data


def test_every_event_type_is_well_formed_and_described():
    assert [name for name in EVENT_TYPES if not is_event_type(name)] == []
    assert [name for name, doc in EVENT_TYPES.items() if not re.fullmatch(r"[A-Z].+\.", doc)] == []
    assert EVENT_TYPES.keys() >= ONE_PER_AGENT_TYPES


@pytest.mark.parametrize(
    "text", ["", "usage", "Usage.reached", "usage.", ".usage", "a b.c", "a.b.c.d.e", "x" * 41 + ".y"]
)
def test_invalid_event_types_are_rejected(text):
    assert not is_event_type(text)


def test_every_shipped_rule_has_an_event_type():
    assert [rule.id for rule in load_packs().rules if rule.event and not is_event_type(rule.event)] == []
