from termvisor.model.detection.detection import Detection, build_detection_key
from termvisor.model.ids import PaneId, RuntimeId


def build_detection(**others) -> Detection:
    return Detection(at=1, type="a.b", rule="a.b", pane=PaneId(1), source="user_var", **others)


def test_unproven_detection_cannot_start_a_workflow():
    assert build_detection().can_start_workflow
    assert build_detection(evidence={"proven": True}).can_start_workflow
    assert not build_detection(evidence={"proven": False}).can_start_workflow


def test_event_data_contains_captures():
    data = build_detection(agent="codex", severity="error", captures={"rule": "no", "left": "5"}).event_data
    assert data == {
        "rule": "a.b",
        "agent": "codex",
        "severity": "error",
        "source": "user_var",
        "captures.rule": "no",
        "captures.left": "5",
    }


def test_types_reported_by_the_agent_have_one_key_per_agent():
    key = build_detection_key("usage.reached", "codex", RuntimeId(7), {"resets_at": "2026-01-01T15:00:00Z"})
    assert (
        key
        == build_detection_key("usage.reached", "codex", RuntimeId(7), {"try_again_at": "3pm"})
        == "usage.reached runtime:7"
    )
    assert build_detection_key("usage.reached", "codex", None, {}) == "usage.reached"


def test_other_keys_depend_on_subject_and_captures():
    keys = {
        build_detection_key("usage.warning", "codex", RuntimeId(7), {"remaining": "25"}),
        build_detection_key("usage.warning", "codex", RuntimeId(7), {"remaining": "10"}),
        build_detection_key("usage.warning", "gemini", RuntimeId(7), {"remaining": "10"}),
    }
    assert len(keys) == 3
    assert len(build_detection_key("a.b", "c", None, {"x": "y" * 999})) == 200
