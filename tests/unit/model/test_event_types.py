import re

import pytest

from termvisor.detection.packs import load_packs
from termvisor.model.event_types import EVENT_TYPES, ONE_PER_AGENT_TYPES, build_detection_key, is_event_type
from termvisor.model.ids import RuntimeId

SEVEN = RuntimeId(7)


def test_every_type_has_the_shape_of_one_and_says_what_it_means():
    assert [name for name in EVENT_TYPES if not is_event_type(name)] == []
    assert [name for name, doc in EVENT_TYPES.items() if not re.fullmatch(r"[A-Z].+\.", doc)] == []
    assert EVENT_TYPES.keys() >= ONE_PER_AGENT_TYPES


@pytest.mark.parametrize(
    "text", ["", "usage", "Usage.reached", "usage.", ".usage", "a b.c", "a.b.c.d.e", "x" * 41 + ".y"]
)
def test_invalid_event_types(text):
    assert not is_event_type(text)


def test_every_shipped_rule_has_an_event_type():
    assert [rule.id for rule in load_packs().rules if rule.event and not is_event_type(rule.event)] == []


def test_types_reported_by_the_agent_have_one_key_per_agent():
    said = build_detection_key("usage.reached", "codex", SEVEN, {"resets_at": "2026-01-01T15:00:00Z"})
    assert (
        said
        == build_detection_key("usage.reached", "codex", SEVEN, {"try_again_at": "3pm"})
        == "usage.reached runtime:7"
    )
    assert build_detection_key("usage.reached", "codex", None, {}) == "usage.reached"


def test_other_keys_depend_on_subject_and_captures():
    keys = {
        build_detection_key("usage.warning", "codex", SEVEN, {"remaining": "25"}),
        build_detection_key("usage.warning", "codex", SEVEN, {"remaining": "10"}),
        build_detection_key("usage.warning", "gemini", SEVEN, {"remaining": "10"}),
    }
    assert len(keys) == 3
    assert len(build_detection_key("a.b", "c", None, {"x": "y" * 999})) == 200
