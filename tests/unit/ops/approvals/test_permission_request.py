import json
from pathlib import Path

import pytest

from termvisor.errors import BadRequest, Unsupported
from termvisor.model.ids import PaneId
from termvisor.ops.approvals.hook_permission import build_answer_action, parse_permission_payload

RECORDINGS = Path(__file__).resolve().parents[3] / "recordings" / "claude_code"


def asked(tool: str, given: dict, **more: str) -> str:
    return json.dumps({"session_id": "s1", "cwd": "/src", "tool_name": tool, "tool_input": given, "new": 1, **more})


def test_a_command_is_read_with_what_belongs_to_it() -> None:
    wish = build_answer_action(
        "claude_code", parse_permission_payload(asked("Bash", {"command": "make", "description": "Build"})), PaneId(3)
    )
    assert (wish.agent, wish.tool, wish.command, wish.cwd, wish.session) == (
        "claude_code",
        "Bash",
        "make",
        "/src",
        "s1",
    )
    assert (wish.given, wish.pane, wish.writes) == ('{"description":"Build"}', 3, ())


def test_a_command_of_words_is_read_as_a_shell_would() -> None:
    assert (
        build_answer_action("codex", parse_permission_payload(asked("shell", {"command": ["ls", "a b"]})), None).command
        == "ls 'a b'"
    )


def test_a_file_that_would_be_written_is_known() -> None:
    wish = build_answer_action(
        "claude_code", parse_permission_payload(asked("Edit", {"file_path": "/src/a", "new_string": "x"})), None
    )
    assert (wish.writes, wish.command) == (("/src/a",), "")
    assert (
        build_answer_action(
            "claude_code", parse_permission_payload(asked("Read", {"file_path": "/src/a"})), None
        ).writes
        == ()
    )


def test_claude_code_permission_requests_have_no_tool_use_id() -> None:
    """Once they have one, identical requests can be told apart; update the guide then, which says they cannot."""
    records = json.loads((RECORDINGS / "approval_asked.json").read_text())["records"]
    result = [json.loads(record["text"]) for record in records if record["source"] == "hook"]
    asked_for = next(one["payload"] for one in result if one["event"] == "PermissionRequest")
    used = next(one["payload"] for one in result if one["event"] == "PreToolUse")
    assert ("tool_use_id" in used, "tool_use_id" in asked_for) == (True, False)


def test_no_request_is_the_same_as_another() -> None:
    plea = parse_permission_payload(asked("Bash", {"command": "make"}))
    assert build_answer_action("claude_code", plea, None) != build_answer_action("claude_code", plea, None)


@pytest.mark.parametrize("text", ["", "{}", "[]", "{", '{"tool_name": 1}', '{"tool_name": "Bash", "tool_input": []}'])
def test_an_invalid_permission_request_is_refused(text: str) -> None:
    with pytest.raises(BadRequest, match="not a permission request"):
        parse_permission_payload(text)


@pytest.mark.parametrize("tool", ["AskUserQuestion", "ExitPlanMode"])
def test_a_tool_with_more_than_two_answers_is_left_to_the_dialog(tool: str) -> None:
    with pytest.raises(Unsupported):
        parse_permission_payload(asked(tool, {}))
