import pytest

from termvisor.errors import BadRequest
from termvisor.model.detection.detection import Detection, DetectionFilter, DetectionHandling
from termvisor.model.ids import PaneId
from termvisor.ops.events._event_item import build_detection_item, check_detection_type, matches_filter

KEY = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
ONE = Detection(
    at=1,
    type="usage.reached",
    rule="codex.usage.reached",
    pane=PaneId(1),
    agent="codex",
    severity="warning",
    source="stream",
)


@pytest.mark.parametrize(
    ("only", "is_passed"),
    [
        ({}, True),
        ({"type": "usage.*"}, True),
        ({"type": "session.*"}, False),
        ({"rule": "codex.*"}, True),
        ({"rule": "gemini.*"}, False),
        ({"agent": "gemini"}, False),
        ({"severity": "warning"}, True),
        ({"severity": "error"}, False),
        ({"is_unhandled": True}, True),
    ],
)
def test_detections_match_their_filter(only, is_passed):
    assert matches_filter(ONE, DetectionFilter(**only)) == is_passed


def test_events_without_a_detection_match_only_an_empty_filter():
    assert matches_filter(None, DetectionFilter())
    assert not matches_filter(None, DetectionFilter(severity="info"))


def test_detection_items_are_redacted():
    result = build_detection_item(
        Detection(
            at=1,
            type="a.b",
            rule="a.b",
            pane=PaneId(1),
            source="stream",
            captures={"what": KEY},
            context=KEY,
            handling=DetectionHandling(at=1, by="person:1", action=KEY),
        )
    )
    assert KEY not in repr(result)


def test_an_event_kind_is_not_a_detection_type():
    check_detection_type("usage.*")
    check_detection_type(None)
    with pytest.raises(BadRequest):
        check_detection_type("pane_gone")
