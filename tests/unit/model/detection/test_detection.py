from termvisor.model.detection.detection import Detection
from termvisor.model.ids import PaneId


def seen(**others) -> Detection:
    return Detection(at=1, type="a.b", rule="a.b", pane=PaneId(1), source="user_var", **others)


def test_unproven_detection_cannot_start_a_workflow():
    assert seen().can_start_workflow
    assert seen(evidence={"proven": True}).can_start_workflow
    assert not seen(evidence={"proven": False}).can_start_workflow


def test_event_data_contains_captures():
    told = seen(agent="codex", severity="error", captures={"rule": "no", "left": "5"}).event_data
    assert told == {
        "rule": "a.b",
        "agent": "codex",
        "severity": "error",
        "source": "user_var",
        "captures.rule": "no",
        "captures.left": "5",
    }
