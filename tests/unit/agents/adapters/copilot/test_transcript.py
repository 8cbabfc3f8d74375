"""The event log of a Copilot session."""

import json

import pytest

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.copilot import ADAPTER
from tests.unit.agents.adapters.adapter_inputs import NOW, SESSION, read_source_record

PATH = f"/home/you/.copilot/session-state/{SESSION}/events.jsonl"
ASKED = {"requestId": "r1", "permissionRequest": {"kind": "shell", "fullCommandText": "touch x", "intention": "Make x"}}


def read_event(kind, /, *, at="2026-11-16T04:15:59.900Z", agent="", **data):
    line = {"type": kind, "data": data, "timestamp": at, "id": "e1"} | ({"agentId": agent} if agent else {})
    return read_source_record(ADAPTER, "session_file", json.dumps(line), path=PATH, event_id="x@1")


@pytest.mark.parametrize(
    ("kind", "data", "expected"),
    [
        ("session.start", {"selectedModel": "m", "copilotVersion": "1"}, "idle"),
        ("session.resume", {}, "idle"),
        ("user.message", {"content": "go"}, "running"),
        ("assistant.turn_start", {}, "running"),
        ("assistant.message", {"content": "done", "toolRequests": []}, "completed"),
        ("tool.execution_start", {"toolName": "bash", "arguments": {"command": "ls"}}, "running"),
        ("tool.execution_start", {"toolName": "ask_user", "arguments": {"message": "Which?"}}, "waiting_input"),
        ("tool.execution_complete", {}, "running"),
        ("permission.requested", ASKED, "waiting_approval"),
        ("permission.completed", {"result": {"kind": "approved"}}, "running"),
        ("permission.completed", {"result": {"kind": "cancelled"}}, "idle"),
        ("abort", {"reason": "user_initiated"}, "idle"),
        ("session.error", {"errorType": "authentication", "message": "no"}, "error"),
        ("session.compaction_start", {"trigger": "manual"}, "running"),
        ("session.compaction_start", {}, None),
        ("session.compaction_complete", {}, None),
        ("session.compaction_complete", {"trigger": "manual"}, "idle"),
        ("session.compaction_complete", {"trigger": "auto"}, "running"),
    ],
)
def test_an_event_gives_a_state(kind, data, expected):
    (signal,) = read_event(kind, **data)
    assert (signal.state, signal.session, signal.source) == (expected, SESSION, "session_file")
    assert signal.event_at == NOW - 100_000_000


@pytest.mark.parametrize(
    "kind", ["assistant.turn_end", "hook.start", "model.response", "session.usage_record", "new.one"]
)
def test_an_event_without_a_state_gives_no_signal(kind):
    assert read_event(kind) == []


def test_a_message_with_tool_requests_does_not_complete_the_turn():
    assert read_event("assistant.message", content="I will", toolRequests=[{"name": "bash"}]) == []


def test_a_background_command_is_a_task_until_it_ends():
    (began,) = read_event(
        "tool.execution_complete", result={"content": "<command started in background with shellId: 0>"}
    )
    (ended,) = read_event("system.notification", kind={"type": "shell_completed", "shellId": "0", "exitCode": 0})
    (stopped,) = read_event("tool.execution_start", toolName="stop_bash", arguments={"shellId": "0"})
    assert [(one.kind, one.task) for one in (began, ended, stopped)] == [
        ("task_began", "shell 0"),
        ("task_ended", "shell 0"),
        ("task_ended", "shell 0"),
    ]
    assert read_event("system.notification", kind={"type": "agent_idle"}) == []
    (resumed,) = read_event("session.resume")
    assert resumed.tasks == ()


def test_errors_set_their_flags():
    (login,) = read_event("session.error", errorType="authentication", message="Authentication failed")
    (limit,) = read_event("session.error", errorType="quota", message="limit resets in 5m")
    assert login.flags.auth_needed is True
    assert (limit.flags.usage_limited, limit.flags.resets_at) == (True, NOW + 300 * 10**9)


def test_a_permission_request_has_command_question_and_id():
    (signal,) = read_event("permission.requested", **ASKED)
    assert {"command": "touch x", "question": "Make x", "request": "r1"}.items() <= signal.payload.items()


def test_a_sub_agent_is_a_task_and_its_permission_request_is_that_of_the_agent():
    (began,) = read_event("subagent.started", agent="a1")
    (ended,) = read_event("subagent.completed", agent="a1")
    (requested,) = read_event("permission.requested", agent="a1", **ASKED)
    assert [(one.kind, one.task) for one in (began, ended)] == [("task_began", "a1"), ("task_ended", "a1")]
    assert (requested.state, requested.task) == ("waiting_approval", "")
    assert read_event("assistant.message", agent="a1", content="x", toolRequests=[]) == []


def test_the_session_end_has_the_total_usage():
    usage = {"usage": {"inputTokens": 100, "outputTokens": 5, "cacheReadTokens": 1}}
    (signal,) = read_event("session.shutdown", modelMetrics={"m": usage, "n": usage})
    assert (signal.kind, signal.payload["input"], signal.payload["output"], signal.payload["cached"]) == (
        "note",
        200,
        10,
        2,
    )
    assert signal.payload["end_reason"] == "manual"


def test_old_events_of_a_resumed_session_are_ignored():
    assert read_event("user.message", at="2026-11-16T03:00:00.000Z", content="old") == []


def test_a_malformed_line_is_unsupported():
    assert read_source_record(ADAPTER, "session_file", "{", path=PATH)[0].reason == "unsupported_signal"


def read_messages(kind: str, path: str = "/home/me/.copilot/session-state/5e55/events.jsonl", **fields) -> list[tuple]:
    line = {"type": kind, "id": "e1", "data": {"content": "mend it", "messageId": "m1"}, **fields}
    record = SourceRecord(source="session_file", text=json.dumps(line), at=9, path=path)
    return [(one.role, one.text, one.session, one.key) for one in ADAPTER.read_transcript(record)]


def test_messages_have_the_session_of_their_folder() -> None:
    assert read_messages("user.message") == [("user", "mend it", "5e55", "m1")]
    assert read_messages("assistant.message") == [("assistant", "mend it", "5e55", "m1")]


def test_messages_of_sub_agents_and_tools_are_left_out() -> None:
    assert read_messages("assistant.message", agentId="a1") == []
    assert read_messages("tool.execution_complete") == []
    assert read_messages("assistant.message", data={"content": "  "}) == []
    assert read_messages("assistant.message", path="") == []
