"""Calls of models: lenient arguments, plain text or the envelope, errors with codes."""

from typing import Any

import msgspec
import pytest

from termvisor.model.action.action import Actor
from termvisor.ops.api.tool_calls import ToolAnswer, ToolCall, call_tool, parse_cause
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.testing.sample_services import build_sample_services

MODEL = Actor(kind="mcp", uid=1000, pid=7, face="mcp")


@pytest.fixture
async def services() -> FakeServices:
    return (await build_sample_services()).bind_caller(MODEL)


async def _call(services: FakeServices, tool: str, into: str = "plain", **arguments: Any) -> ToolAnswer:
    return await call_tool(services, msgspec.convert({"tool": tool, "arguments": arguments, "format": into}, ToolCall))


async def test_a_plain_answer_is_the_text_of_the_operation_and_where_to_read_on(services: FakeServices) -> None:
    answer = await _call(services, "get_text", pane="1", tail=2)
    assert (answer.is_error, answer.is_untrusted) == (False, True)
    assert answer.note.startswith("since for what follows: 1:")
    assert "\x1b" not in answer.text


async def test_json_is_the_envelope_with_the_version_of_the_tools(services: FakeServices) -> None:
    envelope = msgspec.json.decode((await _call(services, "panes", into="json")).text)
    wanted = {"ok", "data", "error", "hint", "elapsed_ms", "version", "schema_version", "now", "mcp_version"}
    assert (set(envelope), envelope["mcp_version"], envelope["ok"]) == (wanted, "v1", True)
    data = msgspec.json.decode((await _call(services, "panes", into="data")).text)
    assert data == envelope["data"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"pane": "1", "tail": 2},
        {"pane": 1, "tail": "2"},
        {"pane_id": 1, "tail": 2.0},
        {"pane": 1, "tail": 2, "since": None},
    ],
)
async def test_arguments_with_one_meaning_are_understood(services: FakeServices, arguments: dict[str, Any]) -> None:
    expected = (await _call(services, "get_text", pane="1", tail=2)).text
    assert (await _call(services, "get_text", **arguments)).text == expected


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("send", {"pane": "1", "text": "x", "yes": True}, "unknown argument 'yes'"),
        ("send", {"pane": "1", "text": "x", "override_reservation": True}, "unknown argument 'override_reservation'"),
        ("explain", {"file": "/etc/passwd"}, "unknown argument 'file'"),
        ("rules_test", {"file": "/etc/passwd"}, "unknown argument 'file'"),
        ("audit", {"follow": True}, "unknown argument 'follow'"),
        ("send", {"pane": "1"}, "missing argument: text"),
        ("get_text", {}, "missing argument: pane"),
        ("get_text", {"pane": "1", "tail": "many"}, "tail: Expected `int`, got `str`"),
        ("get_text", {"pane": "1", "tail": True}, "tail: Expected `int`, got `bool`"),
        ("get_text", {"pane": ["1"]}, "pane: Expected `str`, got `array`"),
        ("accounts", {"service": "acme"}, "service: 'acme' is not one of openai, anthropic, google"),
    ],
)
async def test_other_arguments_are_refused_in_the_words_of_tools(
    services: FakeServices, tool: str, arguments: dict[str, Any], message: str
) -> None:
    answer = await _call(services, tool, **arguments)
    first, hint, *_ = answer.text.split("\n")
    assert (answer.is_error, first) == (True, f"error: invalid_args: {message}")
    assert "--" not in hint


@pytest.mark.parametrize("tool", ["approve", "deny", "kill", "send_keys", "config_set", "db_prune", "list_panes", ""])
async def test_what_is_no_tool_cannot_be_called(services: FakeServices, tool: str) -> None:
    answer = await _call(services, tool)
    assert answer.text.startswith("error: unknown_command: unknown tool")


async def test_an_error_has_its_code_hint_and_details(services: FakeServices) -> None:
    plain = await _call(services, "get_text", pane="99")
    assert plain.text.startswith("error: pane_not_found:")
    assert "hint: Run `panes` to see" in plain.text
    envelope = msgspec.json.decode((await _call(services, "get_text", into="json", pane="99")).text)
    assert (envelope["ok"], envelope["error"]["code"], envelope["mcp_version"]) == (False, "pane_not_found", "v1")


async def test_what_a_person_cannot_see_is_not_shown_to_a_model() -> None:
    services = FakeServices()
    pane = services.add_pane(build_shell_facts("%1"))
    services.print_lines(pane.id, "a\u200bb\U000e0041\u202ec\u00ad\ufe0f d")
    assert (await _call(services, "get_text", pane="1")).text == "abc d"


async def test_the_items_of_a_stream_are_collected(services: FakeServices) -> None:
    services = await build_sample_services(op="replay")
    answer = await _call(services, "replay", pane="2")
    assert "Fix the tests?" in answer.text
    assert len(msgspec.json.decode((await _call(services, "replay", into="data", pane="2")).text)["items"]) == 2


async def test_a_bug_is_an_answer(services: FakeServices, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object) -> None:
        raise ZeroDivisionError("by accident")

    monkeypatch.setattr(services.history, "list_lines", fail)
    assert (await _call(services, "get_text", pane="1")).text.startswith("error: internal:")


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("toolu_01AbC", "mcp:toolu_01AbC"),
        ("", ""),
        ("a.b c\n;--", "mcp:a-b-c"),
        ("x" * 500, "mcp:" + "x" * 200),
        ("sk-ant-api03-" + "A1b2C3d4" * 12, "mcp:sk-ant"),
    ],
)
def test_the_id_of_a_call_becomes_the_beginning_of_a_correlation(text: str, cause: str) -> None:
    assert parse_cause(text)[: len(cause)] == cause
    assert "A1b2C3d4A1b2" not in parse_cause(text)
