import json

import pytest

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.tool_finished import parse_tool_end
from termvisor.model.agent.tool_finished import ToolFinished, encode_tool_input

GIVEN = {"b": 1, "a": "x"}


def line(event: str = "PostToolUse", **payload: object) -> str:
    told = {"session_id": "s1", "tool_name": "Bash", "tool_input": GIVEN, "tool_response": {"ok": True}}
    return json.dumps({"event": event, "at": 5, "payload": {**told, **payload}})


def read(text: str, source: str = "hook") -> ToolFinished | None:
    return parse_tool_end(SourceRecord(source=source, text=text, at=9))


@pytest.mark.parametrize("event", ["PostToolUse", "PostToolUseFailure", "PermissionDenied"])
def test_the_end_of_a_tool_says_which_one(event):
    assert read(line(event)) == ToolFinished(session="s1", tool="Bash", given='{"a":"x","b":1}', at=5_000_000)


@pytest.mark.parametrize(
    "text", [line("PreToolUse"), line("Stop", prompt="PostToolUse"), line(session_id=3), '{"event":"PostToolUse"', "[]"]
)
def test_other_records_are_no_end_of_a_tool(text):
    assert read(text) is None
    assert read(line(), source="transcript") is None


def test_what_a_tool_was_given_is_redacted_and_spelled_one_way():
    secret = "ghp_" + "a1B2" * 9
    end = read(line(tool_input={"command": secret}))
    assert end is not None
    assert secret not in end.given
    assert encode_tool_input({"x": 1, "a": 2}) == encode_tool_input({"a": 2, "x": 1})
