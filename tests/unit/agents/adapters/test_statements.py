"""Statements become signals with the context of their record."""

import json

import pytest

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.statements import (
    MAX_TEXT_CHARS,
    AgentStatement,
    add_context,
    build_payload,
    build_signals,
    build_subtask_interpreter,
    build_unknown_statement,
    parse_hook_event,
    parse_tool_end,
    read_hook_event,
    redact_text,
)
from termvisor.model.agent.evidence import HEURISTIC_SOURCES, OSC_SOURCE, build_native_source
from termvisor.model.agent.hooks import ToolFinished, encode_tool_input
from termvisor.model.agent.signal import ProcessHint
from tests.unit.agents.adapters.adapter_inputs import NOW

HOOK = build_native_source("hook", 1)
RECORD = SourceRecord(source="hook", text="", at=NOW, event_id="0@9", seq=9, life=2)


def test_a_signal_has_the_fields_of_its_record():
    (one,) = build_signals("gemini", HOOK, RECORD, [AgentStatement(state="running", session="s", at=NOW - 5)])
    assert (one.agent, one.source, one.tier, one.session) == ("gemini", "hook", "deterministic", "s")
    assert (one.source_event_id, one.source_seq, one.event_at, one.ingested_at) == ("0@9", None, NOW - 5, NOW)
    assert one.moved_at is None


def test_a_signal_of_a_title_is_heuristic_and_has_moved_at():
    (one,) = build_signals(
        "gemini", HEURISTIC_SOURCES[1], SourceRecord(source="title", text="", at=NOW), [AgentStatement(state="running")]
    )
    assert (one.tier, one.moved_at) == ("heuristic", NOW)


def test_statements_of_one_record_have_different_keys():
    statements = [
        AgentStatement(state="idle"),
        AgentStatement(kind="note"),
        AgentStatement(kind="task_began", task="a"),
        AgentStatement(kind="task_began", task="b"),
    ]
    assert [one.dedupe_key for one in build_signals("opencode", HOOK, RECORD, statements)] == [
        "0@9/0",
        "0@9/1",
        "0@9/2",
        "0@9/3",
    ]


def test_an_unsupported_text_is_unknown_with_its_reason():
    statement = build_unknown_statement("x" * 5000)
    assert (statement.state, statement.reason, len(str(statement.payload["said"]))) == (
        "unknown",
        "unsupported_signal",
        2000,
    )


def test_a_spool_line_has_event_time_and_payload():
    line = {"event": "Stop", "at": 1_794_802_560_123, "payload": {"a": 1}}
    hook = parse_hook_event(SourceRecord(source="hook", text=json.dumps(line), at=NOW))
    assert hook is not None
    assert (hook.event, hook.at, hook.payload) == ("Stop", 1_794_802_560_123_000_000, {"a": 1})


@pytest.mark.parametrize("line", ["", "{", "[1]", "null", '{"event": 1}', '{"at": 1}', "[" * 5000])
def test_a_malformed_hook_line_is_none(line):
    assert parse_hook_event(SourceRecord(source="hook", text=line, at=NOW)) is None


def test_a_payload_is_redacted_and_keeps_zero():
    assert build_payload(command="export API_KEY=sk-ant-api03-" + "a" * 80, empty="", none=None, zero=0)["zero"] == 0
    assert "a" * 80 not in str(build_payload(command="export API_KEY=sk-ant-api03-" + "a" * 80))


def test_context_of_a_statement_overrides_that_of_the_record():
    (one,) = build_signals(
        "gemini",
        HOOK,
        RECORD,
        add_context([AgentStatement(state="idle")], at=5, key="u1", session="s", hint=ProcessHint(pid=4)),
    )
    assert (one.event_at, one.ingested_at, one.dedupe_key, one.session) == (5, NOW, "u1/0", "s")
    assert one.hint == ProcessHint(pid=4)


def test_the_key_of_a_record_without_an_id_depends_on_time_and_text():
    def key(text: str) -> str:
        return build_signals(
            "codex", OSC_SOURCE, SourceRecord(source="osc", text=text, at=NOW), [AgentStatement(state="idle")]
        )[0].dedupe_key

    assert key("state=idle") == key("state=idle") != key("state=done")


def test_payloads_leave_out_empty_values_and_secrets():
    token = "ghp_" + "a1B2" * 9
    payload = build_payload(message=f" take {token} ", tool="", total=0, cost=None, is_new=False)
    assert set(payload) == {"message", "total", "is_new"}
    assert token not in payload["message"]
    assert payload["message"].startswith("take ")


def test_texts_are_bounded():
    assert len(redact_text("words" * MAX_TEXT_CHARS)) == MAX_TEXT_CHARS


def test_a_hook_event_is_interpreted_and_merged_with_the_base_statement():
    line = {"event": "Stop", "at": 1_794_802_560_123, "payload": {"id": "s", "n": 1}}
    record = SourceRecord(source="hook", text=json.dumps(line), at=NOW)
    table = {"Stop": lambda payload, now: AgentStatement(state="completed", payload={"n": payload["n"]})}

    def frame(payload):
        return AgentStatement(session=payload["id"], payload={"model": "m", "n": 0})

    (statement,) = read_hook_event(record, lambda hook: table.get(hook.event), frame)
    assert (statement.state, statement.session, statement.at) == ("completed", "s", 1_794_802_560_123_000_000)
    assert statement.payload == {"event": "Stop", "model": "m", "n": 1}
    assert read_hook_event(record, lambda hook: None, frame) == []
    assert (
        read_hook_event(SourceRecord(source="hook", text="{", at=NOW), lambda hook: None, frame)[0].state == "unknown"
    )


def test_a_subtask_without_an_id_gives_no_statement():
    began = build_subtask_interpreter("task_began", "id")
    assert began({"id": "a"}, NOW) == AgentStatement(kind="task_began", task="a")
    assert began({}, NOW) is None


GIVEN = {"b": 1, "a": "x"}


def build_hook_line(event: str = "PostToolUse", **payload: object) -> str:
    common = {"session_id": "s1", "tool_name": "Bash", "tool_input": GIVEN, "tool_response": {"ok": True}}
    return json.dumps({"event": event, "at": 5, "payload": {**common, **payload}})


def read_tool_end(text: str, source: str = "hook") -> ToolFinished | None:
    return parse_tool_end(SourceRecord(source=source, text=text, at=9))


@pytest.mark.parametrize("event", ["PostToolUse", "PostToolUseFailure", "PermissionDenied"])
def test_a_tool_end_has_session_tool_and_input(event):
    assert read_tool_end(build_hook_line(event)) == ToolFinished(
        session="s1", tool="Bash", given='{"a":"x","b":1}', at=5_000_000
    )


@pytest.mark.parametrize(
    "text",
    [
        build_hook_line("PreToolUse"),
        build_hook_line("Stop", prompt="PostToolUse"),
        build_hook_line(session_id=3),
        '{"event":"PostToolUse"',
        "[]",
    ],
)
def test_other_records_are_not_a_tool_end(text):
    assert read_tool_end(text) is None
    assert read_tool_end(build_hook_line(), source="transcript") is None


def test_the_tool_input_is_redacted_and_encoded_with_sorted_keys():
    secret = "ghp_" + "a1B2" * 9
    end = read_tool_end(build_hook_line(tool_input={"command": secret}))
    assert end is not None
    assert secret not in end.given
    assert encode_tool_input({"x": 1, "a": 2}) == encode_tool_input({"a": 2, "x": 1})
