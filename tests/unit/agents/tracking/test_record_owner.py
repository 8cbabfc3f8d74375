"""Whose record it is."""

import pytest

from termvisor.agents.adapters.adapter import Record, Watch
from termvisor.agents.tracking.record_owner import Watched, origin
from termvisor.model.agent.signal import Hint
from termvisor.testing.world import NOON
from tests.unit.agents.tracking.house import began

BOTH = ["claude_code", "toy"]
WATCHED = [
    Watched("toy", Watch(source="transcript", kind="lines", folder="/home/ada/.toy/", pattern="*")),
    Watched("claude_code", Watch(source="transcript", kind="lines", folder="/home/ada/.claude", pattern="*")),
]


@pytest.mark.parametrize(
    ("source", "speaking", "fields", "whose"),
    [
        ("hook", BOTH, {"text": '{"v":1,"agent":"codex"}'}, "codex"),
        ("hook", BOTH, {"text": "not json"}, ""),
        ("notes", ["toy"], {}, "toy"),
        ("transcript", BOTH, {"path": "/home/ada/.toy/a/b.jsonl"}, "toy"),
        ("transcript", BOTH, {"path": "/home/ada/.claude-too/b.jsonl"}, ""),
        ("transcript", BOTH, {"hint": Hint(pid=101)}, "toy"),
        ("transcript", BOTH, {"hint": Hint(pid=999)}, ""),
        ("unheard_of", [], {}, ""),
    ],
)
def test_the_agent_is_the_one_that_is_named_or_asked_or_lives(source, speaking, fields, whose):
    record = Record(source=source, at=NOON, **({"text": ""} | fields))
    assert origin(record, speaking, WATCHED, [began(NOON).runtime]) == whose
