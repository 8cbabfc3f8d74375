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
def test_a_hook_tells_a_state(event, payload, expected):
    said = read_hook_signal(ADAPTER, event, session_id=SESSION, **payload)
    assert (said.state, said.session, said.event_at) == (expected, SESSION, NOW - 40 * 10**6)


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        ("PreCompress", {"trigger": "auto"}),
        ("Notification", {"notification_type": "Other"}),
        ("AfterModel", {}),
        ("X", {}),
    ],
)
def test_what_fires_all_the_time_or_is_new_says_nothing(event, payload):
    assert read_hook(ADAPTER, event, **payload) is None


def test_a_question_tells_what_is_asked():
    said = read_hook_signal(
        ADAPTER, "Notification", notification_type="ToolPermission", message="needs it", details=DETAILS
    )
    assert said.payload["command"] == "touch x"
    assert said.payload["question"] == "Confirm Shell Command"


def test_a_compression_lasts_until_the_next_prompt():
    assert read_hook_signal(ADAPTER, "PreCompress", trigger="manual").flags.compacting is True
    assert read_hook_signal(ADAPTER, "BeforeAgent", prompt="x").flags.compacting is False


def test_its_end_is_told_beside_the_state():
    said = read_hook_signal(ADAPTER, "SessionEnd", reason="exit")
    assert (said.kind, said.payload["end_reason"]) == ("note", "manual")
    assert "end_reason" not in read_hook_signal(ADAPTER, "SessionEnd", reason="clear").payload


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("◇  Ready (work)            ", "idle"),
        ("✦  Working… (work)         ", "running"),
        ("✋  Action Required (a (b))", "waiting_approval"),
    ],
)
def test_the_title_has_a_sign_for_each_state(title, expected):
    (said,) = read_source_record(ADAPTER, "title", title)
    assert (said.state, said.tier, said.moved_at) == (expected, "deterministic", None)


@pytest.mark.parametrize("title", ["", "bash", "Ready (work)", "✳ Claude Code", "◇ Ready"])
def test_another_title_says_nothing(title):
    assert read_source_record(ADAPTER, "title", title) == []


def test_a_notification_tells_a_question_and_an_end():
    (asked,) = read_source_record(
        ADAPTER, "notification", "Approval required | Approve tool action: Confirm Shell Command"
    )
    (ended,) = read_source_record(ADAPTER, "notification", "Run finished | Gemini CLI finished responding.")
    assert (asked.state, ended.state) == ("waiting_approval", "completed")
    assert asked.payload["message"] == "Approve tool action: Confirm Shell Command"
    assert read_source_record(ADAPTER, "notification", "Approval required, says a web page") == []


def test_a_malformed_hook_line_is_unknown():
    (said,) = read_source_record(ADAPTER, "hook", "{")
    assert (said.state, said.reason) == ("unknown", "unsupported_signal")
