"""Hook events of Cursor, as documented."""

import pytest

from termvisor.agents.adapters.cursor import ADAPTER
from tests.unit.agents.adapters.adapter_inputs import SESSION, read_hook, read_hook_signal, read_source_record


@pytest.mark.parametrize(
    ("event", "payload", "expected"),
    [
        ("sessionStart", {}, "idle"),
        ("beforeSubmitPrompt", {"prompt": "go"}, "running"),
        ("preToolUse", {"tool_name": "Shell"}, "running"),
        ("afterShellExecution", {"command": "ls"}, "running"),
        ("preCompact", {}, "running"),
        ("stop", {"status": "completed"}, "completed"),
        ("stop", {"status": "aborted"}, "idle"),
        ("stop", {"status": "error", "error_message": "usage limit"}, "error"),
        ("stop", {"status": "new"}, "unknown"),
    ],
)
def test_a_hook_event_gives_a_state(event, payload, expected):
    signal = read_hook_signal(ADAPTER, event, conversation_id=SESSION, **payload)
    assert (signal.state, signal.session) == (expected, SESSION)


def test_sub_agents_are_tasks():
    assert read_hook_signal(ADAPTER, "subagentStart", subagent_id="a").kind == "task_began"
    assert read_hook_signal(ADAPTER, "subagentStop", subagent_id="a").kind == "task_ended"
    assert read_hook(ADAPTER, "subagentStart") is None
    assert read_hook(ADAPTER, "subagentStop") is None


def test_agent_responses_and_session_ends_are_notes():
    assert read_hook_signal(ADAPTER, "afterAgentResponse", text="done").payload["last_message"] == "done"
    assert read_hook_signal(ADAPTER, "sessionEnd", reason="user_close").payload["end_reason"] == "manual"


def test_an_unknown_event_gives_no_signal_and_a_malformed_line_is_unsupported():
    assert read_hook(ADAPTER, "afterAgentThought") is None
    assert read_source_record(ADAPTER, "hook", "x")[0].reason == "unsupported_signal"
    assert read_source_record(ADAPTER, "title", "x") == []
