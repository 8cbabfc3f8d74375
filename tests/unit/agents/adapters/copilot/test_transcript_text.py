"""Prompts and answers in the Copilot event log."""

import json

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.copilot import ADAPTER


def said(kind: str, path: str = "/home/me/.copilot/session-state/5e55/events.jsonl", **fields) -> list[tuple]:
    line = {"type": kind, "id": "e1", "data": {"content": "mend it", "messageId": "m1"}, **fields}
    record = SourceRecord(source="session_file", text=json.dumps(line), at=9, path=path)
    return [(one.role, one.text, one.session, one.key) for one in ADAPTER.read_transcript(record)]


def test_messages_are_those_of_the_session_in_whose_folder_they_stand() -> None:
    assert said("user.message") == [("user", "mend it", "5e55", "m1")]
    assert said("assistant.message") == [("assistant", "mend it", "5e55", "m1")]


def test_what_sub_agents_and_tools_say_is_left_out() -> None:
    assert said("assistant.message", agentId="a1") == []
    assert said("tool.execution_complete") == []
    assert said("assistant.message", data={"content": "  "}) == []
    assert said("assistant.message", path="") == []
