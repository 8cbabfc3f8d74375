"""The agent of a record."""

import pytest

from termvisor.agents.adapters.adapter import SourceRecord, WatchedPath
from termvisor.agents.tracking.signal_reader import find_record_owner
from termvisor.model.agent.signal import ProcessHint
from termvisor.testing.fake_clock import NOON
from tests.unit.agents.tracking.tracker_scene import build_agent_started

BOTH = ["claude_code", "toy"]
WATCHED = [
    *((agent, WatchedPath(source="transcript", kind="lines", folder="/both", pattern="*")) for agent in BOTH),
    ("toy", WatchedPath(source="transcript", kind="lines", folder="/home/ada/.toy/", pattern="*")),
    ("claude_code", WatchedPath(source="transcript", kind="lines", folder="/home/ada/.claude", pattern="*")),
]


@pytest.mark.parametrize(
    ("source", "agents", "fields", "owner"),
    [
        ("hook", BOTH, {"text": '{"v":1,"agent":"codex"}'}, "codex"),
        ("hook", BOTH, {"text": "not json"}, ""),
        ("notes", ["toy"], {}, "toy"),
        ("transcript", BOTH, {"path": "/home/ada/.toy/a/b.jsonl"}, "toy"),
        ("transcript", BOTH, {"path": "/home/ada/.claude-too/b.jsonl"}, ""),
        ("transcript", BOTH, {"hint": ProcessHint(pid=101)}, "toy"),
        ("transcript", BOTH, {"hint": ProcessHint(pid=999)}, ""),
        ("unheard_of", [], {}, ""),
        ("history", BOTH, {"path": "/home/ada/.toy/a/b.jsonl"}, ""),
        ("transcript", BOTH, {"path": "/home/ada/.claude/b.jsonl", "hint": ProcessHint(pid=101)}, "claude_code"),
        ("transcript", ["codex", "claude_code"], {"path": "/home/ada/.toy/b.jsonl"}, ""),
        ("transcript", BOTH, {"path": "/both/b.jsonl"}, ""),
    ],
)
def test_the_owner_is_found_by_name_watched_path_or_process(source, agents, fields, owner):
    record = SourceRecord(source=source, at=NOON, **({"text": ""} | fields))
    assert find_record_owner(record, agents, WATCHED, [build_agent_started(NOON).runtime]) == owner


def test_a_record_without_a_process_is_not_of_an_agent_without_one():
    remote = build_agent_started(NOON, pid=0).runtime
    record = SourceRecord(source="transcript", text="", at=NOON)
    assert find_record_owner(record, BOTH, (), [remote]) == ""
