"""Hook events of Claude Code."""

import json

import pytest

from termvisor.agents.adapters.claude_code.hooks import EVENT_READERS, STATELESS_EVENTS
from termvisor.model.agent.signal import Signal
from tests.unit.agents.adapters.claude_code.claude_inputs import NOW, SESSION, read_hook, read_source_record

QUESTION = {"questions": [{"question": "Which database?", "options": []}]}
NOTICE = "<task-notification>\n<task-id>b60cet834</task-id>\n<status>completed</status>\n</task-notification>"


def get_only(signals: list[Signal]) -> Signal:
    (signal,) = signals
    return signal


@pytest.mark.parametrize(
    ("event", "payload", "state"),
    [
        ("SessionStart", {"source": "startup", "model": "opus"}, "idle"),
        ("SessionStart", {"source": "resume"}, "idle"),
        ("SessionStart", {"source": "clear"}, "idle"),
        ("UserPromptSubmit", {"prompt": "do it"}, "running"),
        ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}}, "running"),
        ("PostToolUse", {"tool_name": "Bash", "tool_response": {"stdout": ""}}, "running"),
        ("PostToolUseFailure", {"tool_name": "Bash", "error": "Exit code 3"}, "running"),
        ("PostToolUseFailure", {"tool_name": "Bash", "error": "stopped", "is_interrupt": True}, "idle"),
        ("PermissionRequest", {"tool_name": "Bash", "tool_input": {"command": "rm x"}}, "waiting_approval"),
        ("PermissionRequest", {"tool_name": "ExitPlanMode", "tool_input": {}}, "waiting_approval"),
        ("PermissionRequest", {"tool_name": "AskUserQuestion", "tool_input": QUESTION}, "waiting_input"),
        ("Notification", {"notification_type": "agent_needs_input"}, "waiting_input"),
        ("Notification", {"notification_type": "elicitation_dialog"}, "waiting_input"),
        ("Notification", {"notification_type": "worker_permission_prompt"}, "waiting_approval"),
        ("Elicitation", {"message": "Which account?"}, "waiting_input"),
        ("ElicitationResult", {"action": "accept"}, "running"),
        ("Stop", {"last_assistant_message": "done", "background_tasks": []}, "completed"),
        ("StopFailure", {"error": "server_error", "last_assistant_message": "API Error: 500"}, "error"),
        ("PreCompact", {"trigger": "auto"}, "running"),
        ("PostCompact", {"trigger": "auto"}, "running"),
        ("PostCompact", {"trigger": "manual"}, "idle"),
    ],
)
def test_a_hook_event_gives_a_state(event: str, payload: dict, state: str) -> None:
    signal = get_only(read_hook(event, **payload))
    assert (signal.kind, signal.state, signal.session) == ("state", state, SESSION)
    assert (signal.event_at, signal.hint.pid) == (NOW - 40 * 10**6, 42)


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        ("SessionStart", {"source": "compact"}),
        ("Notification", {"notification_type": "permission_prompt", "message": "Claude needs your permission"}),
        ("Notification", {"notification_type": "idle_prompt"}),
        ("PermissionDenied", {"tool_name": "Bash", "reason": "too risky"}),
        ("PostModelSwitch", {"to_model": "sonnet"}),
        ("PreToolUse", {"tool_name": "Read", "agent_id": "a1"}),
        ("SessionEnd", {"reason": "clear"}),
    ],
)
def test_a_hook_event_without_a_state_is_a_note(event: str, payload: dict) -> None:
    assert get_only(read_hook(event, **payload)).kind == "note"


def test_a_permission_request_has_tool_and_command_or_question() -> None:
    approval = get_only(read_hook("PermissionRequest", tool_name="Bash", tool_input={"command": "touch made"}))
    question = get_only(read_hook("PermissionRequest", tool_name="AskUserQuestion", tool_input=QUESTION))
    assert approval.payload == {"tool": "Bash", "command": "touch made"}
    assert question.payload == {"tool": "AskUserQuestion", "question": "Which database?"}


def test_a_stop_lists_the_background_tasks_that_still_run() -> None:
    shell = {"id": "b1", "type": "shell", "status": "running", "command": "sleep 9"}
    over = {"id": "b2", "type": "shell", "status": "completed"}
    assert get_only(read_hook("Stop", background_tasks=[shell, over])).tasks == ("b1",)
    assert get_only(read_hook("Stop", background_tasks=[])).tasks == ()
    assert get_only(read_hook("Stop")).tasks is None


def test_a_background_command_is_a_task_from_its_tool_use_to_its_notification() -> None:
    began, _ = read_hook("PostToolUse", tool_name="Bash", tool_response={"backgroundTaskId": "b60cet834"})
    ended, running = read_hook("UserPromptSubmit", prompt=NOTICE)
    assert (began.kind, began.task) == ("task_began", "b60cet834")
    assert (ended.kind, ended.task) == ("task_ended", "b60cet834")
    assert running.state == "running"
    assert "prompt" not in running.payload


def test_a_sub_agent_is_a_task_except_the_compacting_one() -> None:
    assert get_only(read_hook("SubagentStart", agent_id="a1", agent_type="general-purpose")).kind == "task_began"
    assert get_only(read_hook("SubagentStop", agent_id="a1", agent_type="general-purpose")).kind == "task_ended"
    assert get_only(read_hook("SubagentStop", agent_id="a1")).kind == "task_ended", "as older versions report it"
    assert read_hook("SubagentStop", agent_id="a2", agent_type="") == []


def test_a_permission_request_of_a_sub_agent_is_waiting_approval() -> None:
    signal = get_only(read_hook("PermissionRequest", tool_name="Bash", tool_input={"command": "ls"}, agent_id="a1"))
    assert signal.state == "waiting_approval"


def test_compact_events_set_and_clear_the_compacting_flag() -> None:
    assert get_only(read_hook("PreCompact", trigger="manual")).flags.compacting is True
    assert get_only(read_hook("PostCompact", trigger="manual")).flags.compacting is False


def test_a_usage_limit_has_its_reset_time() -> None:
    message = "You've hit your 5-hour limit · resets 7:19am (UTC)"
    signal = get_only(read_hook("StopFailure", error="rate_limit", last_assistant_message=message))
    assert signal.flags.usage_limited is True
    assert signal.flags.resets_at == 1_794_813_540 * 10**9  # 07:19 UTC


def test_a_session_end_is_a_note_with_a_manual_end_reason_if_the_user_exits() -> None:
    signal = get_only(read_hook("SessionEnd", reason="prompt_input_exit"))
    assert (signal.kind, signal.payload["end_reason"]) == ("note", "manual")
    assert "end_reason" not in get_only(read_hook("SessionEnd", reason="other")).payload


def test_a_prompt_is_redacted_and_truncated() -> None:
    secret = "ghp_" + "k3Jx9QmZp2Lr8Tv5Wb1Nc7Yd4Hf6Gs0AeUiO"[:36]
    signal = get_only(read_hook("UserPromptSubmit", prompt=f"use {secret} " + "x" * 5000))
    assert secret not in str(signal.payload)
    assert len(str(signal.payload["prompt"])) <= 2000


def test_an_unsupported_event_is_unknown() -> None:
    signal = get_only(read_hook("Levitation"))
    assert (signal.state, signal.reason) == ("unknown", "unsupported_signal")


def test_stateless_events_give_no_signal() -> None:
    assert [name for name in STATELESS_EVENTS if read_hook(name)] == []
    assert not STATELESS_EVENTS & EVENT_READERS.keys()


def test_an_event_with_an_empty_payload_still_gives_a_state() -> None:
    lost = json.dumps({"v": 1, "agent": "claude_code", "event": "Stop", "at": 1, "payload": {}})
    assert get_only(read_source_record("hook", lost)).state == "completed"


MODEL = {"id": "claude-opus-5-5", "display_name": "Opus 5.5"}
FRESH = {"total_input_tokens": 0, "context_window_size": 1_000_000, "current_usage": None, "used_percentage": None}


def test_a_status_line_is_a_note_with_model_cost_and_context():
    window = {**FRESH, "used_percentage": 42}
    (signal,) = read_hook(
        "StatusLine", model=MODEL, version="2.1.325", cost={"total_cost_usd": 0.0128}, context_window=window
    )
    assert (signal.kind, signal.state, signal.session) == ("note", None, SESSION)
    assert signal.payload == {
        "model": "claude-opus-5-5",
        "version": "2.1.325",
        "cost_so_far": 0.0128,
        "context_used": 0.42,
        "context_size": 1_000_000,
    }


def test_a_status_line_before_the_first_answer_has_only_the_model():
    (signal,) = read_hook("StatusLine", model=MODEL, cost={"total_cost_usd": 0}, context_window=FRESH)
    assert signal.payload == {"model": "claude-opus-5-5"}


def test_a_malformed_status_line_gives_no_signal():
    assert read_hook("StatusLine", model="opus", cost=[], context_window={"used_percentage": "much"}) == []
