"""What Gemini's hooks, titles and notifications mean."""

import pytest

from termvisor.agents.adapters.gemini import ADAPTER
from tests.unit.agents.adapters.saying import NOW, SESSION, hook, read, told

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
    said = told(ADAPTER, event, session_id=SESSION, **payload)
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
    assert hook(ADAPTER, event, **payload) is None


def test_a_question_tells_what_is_asked():
    said = told(ADAPTER, "Notification", notification_type="ToolPermission", message="needs it", details=DETAILS)
    assert said.payload["command"] == "touch x"
    assert said.payload["question"] == "Confirm Shell Command"


def test_a_compression_lasts_until_the_next_prompt():
    assert told(ADAPTER, "PreCompress", trigger="manual").flags.compacting is True
    assert told(ADAPTER, "BeforeAgent", prompt="x").flags.compacting is False


def test_its_end_is_told_beside_the_state():
    said = told(ADAPTER, "SessionEnd", reason="exit")
    assert (said.kind, said.payload["end_reason"]) == ("note", "manual")
    assert "end_reason" not in told(ADAPTER, "SessionEnd", reason="clear").payload


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("◇  Ready (work)            ", "idle"),
        ("✦  Working… (work)         ", "running"),
        ("✋  Action Required (a (b))", "waiting_approval"),
    ],
)
def test_the_title_has_a_sign_for_each_state(title, expected):
    (said,) = read(ADAPTER, "title", title)
    assert (said.state, said.tier, said.moved_at) == (expected, "deterministic", None)


@pytest.mark.parametrize("title", ["", "bash", "Ready (work)", "✳ Claude Code", "◇ Ready"])
def test_another_title_says_nothing(title):
    assert read(ADAPTER, "title", title) == []


def test_a_notification_tells_a_question_and_an_end():
    (asked,) = read(ADAPTER, "notification", "Approval required | Approve tool action: Confirm Shell Command")
    (ended,) = read(ADAPTER, "notification", "Run finished | Gemini CLI finished responding.")
    assert (asked.state, ended.state) == ("waiting_approval", "completed")
    assert asked.payload["message"] == "Approve tool action: Confirm Shell Command"
    assert read(ADAPTER, "notification", "Approval required, says a web page") == []


def test_a_line_that_is_no_hooks_is_not_understood():
    (said,) = read(ADAPTER, "hook", "{")
    assert (said.state, said.reason) == ("unknown", "unsupported_signal")
