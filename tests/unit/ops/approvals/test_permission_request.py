import json
from pathlib import Path

import pytest

from termvisor.errors import BadRequest, Unsupported
from termvisor.model.ids import PaneId
from termvisor.ops.approvals.hook_permission import build_answer_action, parse_permission_payload

RECORDINGS = Path(__file__).resolve().parents[3] / "recordings" / "claude_code"


def build_payload(tool: str, given: dict, **more: str) -> str:
    return json.dumps({"session_id": "s1", "cwd": "/src", "tool_name": tool, "tool_input": given, "new": 1, **more})


def test_a_command_is_parsed_with_its_context() -> None:
    action = build_answer_action(
        "claude_code",
        parse_permission_payload(build_payload("Bash", {"command": "make", "description": "Build"})),
        PaneId(3),
    )
    assert (action.agent, action.tool, action.command, action.cwd, action.session) == (
        "claude_code",
        "Bash",
        "make",
        "/src",
        "s1",
    )
    assert (action.given, action.pane, action.writes) == ('{"description":"Build"}', 3, ())


def test_a_command_given_as_a_list_is_quoted_for_the_shell() -> None:
    assert (
        build_answer_action(
            "codex", parse_permission_payload(build_payload("shell", {"command": ["ls", "a b"]})), None
        ).command
        == "ls 'a b'"
    )


def test_a_file_that_would_be_written_is_listed() -> None:
    action = build_answer_action(
        "claude_code", parse_permission_payload(build_payload("Edit", {"file_path": "/src/a", "new_string": "x"})), None
    )
    assert (action.writes, action.command) == (("/src/a",), "")
    assert (
        build_answer_action(
            "claude_code", parse_permission_payload(build_payload("Read", {"file_path": "/src/a"})), None
        ).writes
        == ()
    )


def test_claude_code_permission_requests_have_no_tool_use_id() -> None:
    """If they get one, identical requests become distinguishable; then update the guide, which says they are not."""
    records = json.loads((RECORDINGS / "approval_asked.json").read_text())["records"]
    result = [json.loads(record["text"]) for record in records if record["source"] == "hook"]
    asked_for = next(one["payload"] for one in result if one["event"] == "PermissionRequest")
    used = next(one["payload"] for one in result if one["event"] == "PreToolUse")
    assert ("tool_use_id" in used, "tool_use_id" in asked_for) == (True, False)


def test_identical_requests_are_distinct_actions() -> None:
    request = parse_permission_payload(build_payload("Bash", {"command": "make"}))
    assert build_answer_action("claude_code", request, None) != build_answer_action("claude_code", request, None)


@pytest.mark.parametrize("text", ["", "{}", "[]", "{", '{"tool_name": 1}', '{"tool_name": "Bash", "tool_input": []}'])
def test_an_invalid_permission_request_is_rejected(text: str) -> None:
    with pytest.raises(BadRequest, match="not a permission request"):
        parse_permission_payload(text)


@pytest.mark.parametrize("tool", ["AskUserQuestion", "ExitPlanMode"])
def test_a_tool_with_more_than_two_answers_is_left_to_the_dialog(tool: str) -> None:
    with pytest.raises(Unsupported):
        parse_permission_payload(build_payload(tool, {}))
