from termvisor.model.detection.detection import Detection
from termvisor.model.ids import PaneId


def seen(**others) -> Detection:
    return Detection(at=1, type="a.b", rule="a.b", pane=PaneId(1), source="user_var", **others)


def test_what_nobody_proved_may_start_nothing():
    assert seen().can_start_workflow
    assert seen(evidence={"proven": True}).can_start_workflow
    assert not seen(evidence={"proven": False}).can_start_workflow


def test_its_event_tells_what_was_captured():
    told = seen(agent="codex", severity="error", captures={"rule": "no", "left": "5"}).event_data
    assert told == {
        "rule": "a.b",
        "agent": "codex",
        "severity": "error",
        "source": "user_var",
        "captures.rule": "no",
        "captures.left": "5",
    }
