"""Hook events of Copilot."""

import pytest

from termvisor.agents.adapters.copilot import ADAPTER
from tests.unit.agents.adapters.adapter_inputs import NOW, SESSION, read_hook, read_hook_signal, read_source_record

LIMIT = '{"type":"usage_limit_reached","message":"The usage limit has been reached","resets_in_seconds":60}'


@pytest.mark.parametrize(
    ("event", "payload", "expected"),
    [
        ("userPromptSubmitted", {"prompt": "go"}, "running"),
        ("preToolUse", {"toolName": "bash", "toolArgs": {"command": "ls"}}, "running"),
        ("postToolUse", {"toolName": "bash"}, "running"),
        ("notification", {"notification_type": "permission_prompt", "message": "Run command: ls"}, "waiting_approval"),
        ("notification", {"notification_type": "elicitation_dialog"}, "waiting_input"),
        ("errorOccurred", {"recoverable": True, "error": {"message": "x"}}, "running"),
        ("errorOccurred", {"recoverable": False, "error": {"message": "x"}}, "error"),
        ("agentStop", {"stopReason": "end_turn"}, "completed"),
        ("preCompact", {"trigger": "manual"}, "running"),
    ],
)
def test_a_hook_event_gives_a_state(event, payload, expected):
    signal = read_hook_signal(ADAPTER, event, sessionId=SESSION, **payload)
    assert (signal.state, signal.session, signal.event_at) == (expected, SESSION, NOW - 40 * 10**6)


def test_a_permission_request_without_a_dialog_is_ignored():
    assert read_hook(ADAPTER, "permissionRequest", toolName="bash") is None
    assert read_hook(ADAPTER, "notification", notification_type="agent_idle") is None


def test_a_retried_usage_limit_has_its_reset_time():
    signal = read_hook_signal(ADAPTER, "errorOccurred", recoverable=True, error={"message": LIMIT})
    assert (signal.flags.usage_limited, signal.flags.resets_at) == (True, NOW + 60 * 10**9)
    assert signal.payload["message"] == "The usage limit has been reached"


def test_the_end_of_a_sub_agent_turn_gives_no_signal():
    fields = {"agentId": "a1", "parentAgentId": SESSION}
    assert read_hook(ADAPTER, "agentStop", **fields) is None
    assert read_hook_signal(ADAPTER, "notification", notification_type="permission_prompt", **fields).session == SESSION
    began, ended = (
        read_hook_signal(ADAPTER, "subagentStart", agentId="a1"),
        read_hook_signal(ADAPTER, "subagentStop", agentId="a1"),
    )
    assert [(one.kind, one.task) for one in (began, ended)] == [("task_began", "a1"), ("task_ended", "a1")]
    assert read_hook(ADAPTER, "subagentStart") is None


def test_a_session_end_is_a_note_with_its_end_reason():
    signal = read_hook_signal(ADAPTER, "sessionEnd", reason="user_exit")
    assert (signal.kind, signal.payload["end_reason"]) == ("note", "manual")


def test_a_malformed_hook_line_is_unsupported():
    assert read_source_record(ADAPTER, "hook", "")[0].reason == "unsupported_signal"
