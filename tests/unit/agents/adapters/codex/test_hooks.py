"""Hook events and the notify program of Codex."""

import pytest

from termvisor.model.agent.signal import FlagUpdate, ProcessHint
from termvisor.model.ids import MuxPaneId
from tests.unit.agents.adapters.codex.codex_records import READ_AT, read_one_signal, read_signals


def read_codex_hook(event, **payload):
    common = {"session_id": "s", "cwd": "/src", "hook_event_name": event}
    line = {"v": 1, "agent": "codex", "event": event, "at": READ_AT // 10**6 - 20, "payload": {**common, **payload}}
    return read_one_signal("hook", line, hint=ProcessHint(socket="/tmp/t", mux_pane=MuxPaneId("%0"), pid=4))


@pytest.mark.parametrize(
    ("event", "payload", "state"),
    [
        ("UserPromptSubmit", {"prompt": "hi"}, "running"),
        ("PreModelRequest", {}, "running"),
        ("PreToolUse", {"tool_name": "Bash"}, "running"),
        ("PermissionRequest", {"tool_name": "Bash"}, "waiting_approval"),
        ("PostToolUse", {}, "running"),
        ("PostModelRequest", {"status": "cancelled"}, "idle"),
        ("PostModelRequest", {"status": "failed", "error": "status 401"}, "error"),
        ("Stop", {"last_assistant_message": "Done."}, "completed"),
        ("Interrupt", {}, "idle"),
        ("PreCompact", {"trigger": "auto"}, "running"),
        ("PostCompact", {"trigger": "auto"}, "running"),
        ("PostCompact", {"trigger": "manual"}, "completed"),
        ("SessionEnd", {"reason": "other"}, "unknown"),
        ("SomethingNew", {}, "unknown"),
    ],
)
def test_a_hook_event_gives_a_state(event, payload, state):
    assert read_codex_hook(event, **payload).state == state


def test_pane_and_pid_of_a_hook_are_not_used_because_they_are_those_of_the_server():
    signal = read_codex_hook("Stop")
    assert signal.hint == ProcessHint(cwd="/src", via=4)
    assert (signal.session, signal.event_at) == ("s", READ_AT - 20 * 10**6)


def test_a_permission_request_has_tool_command_and_question():
    signal = read_codex_hook(
        "PermissionRequest", tool_name="Bash", tool_input={"command": "touch x", "description": "May it?"}
    )
    assert signal.payload == {"tool": "Bash", "command": "touch x", "question": "May it?"}


def test_session_start_and_model_answer_are_notes():
    assert read_codex_hook("SessionStart", model="gpt-6", source="startup").kind == "note"
    assert read_codex_hook("PostModelRequest", status="completed", model="gpt-6").payload["model"] == "gpt-6"


def test_a_usage_limit_is_recognized_by_its_message():
    failed = read_codex_hook(
        "PostModelRequest", status="failed", error="You’ve hit your usage limit. … try again at 7:16 AM."
    )
    assert failed.payload["error"] == "usage_limit"
    assert failed.flags.usage_limited
    assert failed.flags.resets_at is not None


def test_compact_events_set_and_clear_the_compacting_flag():
    assert read_codex_hook("PreCompact").flags == FlagUpdate(compacting=True)
    assert read_codex_hook("PostCompact").flags == FlagUpdate(compacting=False)


def test_sub_agents_are_tasks():
    assert read_codex_hook("SubagentStart", agent_id="a").kind == "task_began"
    assert read_codex_hook("SubagentStop", agent_id="a").kind == "task_ended"
    assert read_signals("hook", {"event": "SubagentStart", "payload": {"hook_event_name": "SubagentStart"}}) == []


def test_the_notify_program_reports_the_end_of_a_turn():
    notice = {"type": "agent-turn-complete", "thread-id": "t", "cwd": "/src", "input-messages": ["hi"]}
    signal = read_one_signal("notify", {**notice, "last-assistant-message": "Hello."})
    assert (signal.state, signal.session, signal.payload) == ("completed", "t", {"last_message": "Hello."})
    assert signal.hint == ProcessHint(cwd="/src")


def test_a_title_generating_thread_gives_no_signal():
    title = ["Generate a concise, single-line task title of at most 36 characters …"]
    assert read_signals("notify", {"type": "agent-turn-complete", "thread-id": "t", "input-messages": title}) == []


def test_a_line_that_is_not_json_is_unsupported():
    assert read_one_signal("hook", "{").reason == "unsupported_signal"
