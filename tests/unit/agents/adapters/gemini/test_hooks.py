"""Hooks, titles and notifications of Gemini."""

import pytest

from termvisor.agents.adapters.gemini import ADAPTER
from tests.unit.agents.adapters.adapter_inputs import NOW, SESSION, read_hook, read_hook_signal, read_source_record

DETAILS = {"type": "exec", "title": "Confirm Shell Command", "command": "touch x"}


@pytest.mark.parametrize(
    ("event", "payload", "expected"),
    [
        ("SessionStart", {"source": "startup"}, "idle"),
        ("BeforeAgent", {"prompt": "fix it"}, "running"),
        ("BeforeTool", {"tool_name": "run_shell_command"}, "running"),
        ("AfterTool", {"tool_name": "run_shell_command"}, "running"),
        ("Notification", {"notification_type": "ToolPermission", "details": DETAILS}, "waiting_approval"),
        ("Notification", {"notification_type": "ToolPermission", "details": {"type": "ask_user"}}, "waiting_input"),
        ("AfterAgent", {"prompt_response": "done "}, "completed"),
        ("AfterAgent", {"prompt_response": "[no response text]"}, "unknown"),
        ("AfterAgent", {}, "unknown"),
        ("PreCompress", {"trigger": "manual"}, "running"),
    ],
)
def test_a_hook_event_gives_a_state(event, payload, expected):
    signal = read_hook_signal(ADAPTER, event, session_id=SESSION, **payload)
    assert (signal.state, signal.session, signal.event_at) == (expected, SESSION, NOW - 40 * 10**6)


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        ("PreCompress", {"trigger": "auto"}),
        ("Notification", {"notification_type": "Other"}),
        ("AfterModel", {}),
        ("X", {}),
    ],
)
def test_irrelevant_or_unknown_events_give_no_signal(event, payload):
    assert read_hook(ADAPTER, event, **payload) is None


def test_a_permission_request_has_its_command_and_question():
    signal = read_hook_signal(
        ADAPTER, "Notification", notification_type="ToolPermission", message="needs it", details=DETAILS
    )
    assert signal.payload["command"] == "touch x"
    assert signal.payload["question"] == "Confirm Shell Command"


def test_a_compression_lasts_until_the_next_prompt():
    assert read_hook_signal(ADAPTER, "PreCompress", trigger="manual").flags.compacting is True
    assert read_hook_signal(ADAPTER, "BeforeAgent", prompt="x").flags.compacting is False


def test_a_session_end_is_a_note_with_its_end_reason():
    signal = read_hook_signal(ADAPTER, "SessionEnd", reason="exit")
    assert (signal.kind, signal.payload["end_reason"]) == ("note", "manual")
    assert "end_reason" not in read_hook_signal(ADAPTER, "SessionEnd", reason="clear").payload


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("◇  Ready (work)            ", "idle"),
        ("✦  Working… (work)         ", "running"),
        ("✋  Action Required (a (b))", "waiting_approval"),
    ],
)
def test_the_title_symbol_gives_the_state(title, expected):
    (signal,) = read_source_record(ADAPTER, "title", title)
    assert (signal.state, signal.tier, signal.moved_at) == (expected, "deterministic", None)


@pytest.mark.parametrize("title", ["", "bash", "Ready (work)", "✳ Claude Code", "◇ Ready"])
def test_another_title_gives_no_signal(title):
    assert read_source_record(ADAPTER, "title", title) == []


def test_a_notification_reports_a_permission_request_or_the_end_of_a_turn():
    (requested,) = read_source_record(
        ADAPTER, "notification", "Approval required | Approve tool action: Confirm Shell Command"
    )
    (ended,) = read_source_record(ADAPTER, "notification", "Run finished | Gemini CLI finished responding.")
    assert (requested.state, ended.state) == ("waiting_approval", "completed")
    assert requested.payload["message"] == "Approve tool action: Confirm Shell Command"
    assert read_source_record(ADAPTER, "notification", "Approval required, says a web page") == []


def test_a_malformed_hook_line_is_unknown():
    (signal,) = read_source_record(ADAPTER, "hook", "{")
    assert (signal.state, signal.reason) == ("unknown", "unsupported_signal")
