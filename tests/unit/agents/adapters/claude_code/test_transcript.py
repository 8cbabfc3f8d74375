"""Transcript lines: turns, tokens, titles and interrupts."""

import json

import pytest

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.claude_code import ADAPTER
from termvisor.agents.adapters.transcript_text import TranscriptText
from tests.unit.agents.adapters.claude_code.claude_inputs import NOW, SESSION, read_transcript_line

USAGE = {"input_tokens": 10, "cache_read_input_tokens": 200, "cache_creation_input_tokens": 30, "output_tokens": 5}


def build_message(stop_reason: str | None, text: str = "hello") -> dict:
    content = [{"type": "text", "text": text}]
    return {"id": "msg_1", "model": "claude-opus-5-5", "content": content, "stop_reason": stop_reason, "usage": USAGE}


def test_a_prompt_starts_a_turn() -> None:
    (signal,) = read_transcript_line("user", message={"content": "do it"}, promptSource="typed", version="2.1.325")
    assert (signal.state, signal.payload["prompt"], signal.session) == ("running", "do it", SESSION)
    assert signal.event_at == NOW - 10**8


def test_a_generated_prompt_of_a_finished_task_is_not_a_user_message() -> None:
    (signal,) = read_transcript_line("user", message={"content": "<task-notification>"}, promptSource="system")
    assert signal.state == "running"
    assert "prompt" not in signal.payload


@pytest.mark.parametrize("text", ["[Request interrupted by user]", "[Request interrupted by user for tool use]"])
def test_an_interrupt_line_is_idle(text: str) -> None:
    (signal,) = read_transcript_line("user", message={"content": [{"type": "text", "text": text}]})
    assert (signal.state, signal.payload["interrupted"]) == ("idle", text.strip("[]"))


def test_a_prompt_of_an_older_version_starts_a_turn() -> None:
    (signal,) = read_transcript_line("user", message={"content": "do it"})
    assert (signal.state, signal.payload["prompt"]) == ("running", "do it")


@pytest.mark.parametrize(
    ("text", "fields"),
    [("<command-name>/model</command-name>", {}), ("This session is continued", {"isCompactSummary": True})],
)
def test_a_command_or_a_summary_is_not_a_prompt(text: str, fields: dict[str, bool]) -> None:
    assert read_transcript_line("user", message={"content": text}, **fields) == []


def test_a_text_without_a_stop_reason_leaves_the_state_open() -> None:
    (signal,) = read_transcript_line("assistant", message=build_message(None))
    assert (signal.kind, signal.state, signal.payload["context_used"]) == ("note", None, 245)


@pytest.mark.parametrize(("trigger", "state"), [("manual", "idle"), ("auto", "running")])
def test_a_compaction_ends_the_turn_that_was_only_for_it(trigger: str, state: str) -> None:
    (signal,) = read_transcript_line("system", subtype="compact_boundary", compactMetadata={"trigger": trigger})
    assert (signal.state, signal.flags.compacting) == (state, False)


def test_a_line_about_a_retry_changes_nothing() -> None:
    assert read_transcript_line("system", subtype="api_error", error={"status": 401}) == []


def test_an_answer_completes_the_turn_with_its_token_usage() -> None:
    (signal,) = read_transcript_line("assistant", message=build_message("end_turn"))
    assert signal.state == "completed"
    assert signal.payload == {
        "model": "claude-opus-5-5",
        "context_used": 245,
        "message_input": 10,
        "message_cached": 230,
        "message_output": 5,
        "message_written": 30,
        "message_id": "msg_1",
        "last_message": "hello",
    }


def test_a_tool_use_keeps_the_turn_running() -> None:
    (signal,) = read_transcript_line("assistant", message=build_message("tool_use"))
    assert signal.state == "running"


def test_an_api_error_is_an_error_state_with_its_flags() -> None:
    failed = {"isApiErrorMessage": True, "error": "authentication_failed"}
    (signal,) = read_transcript_line("assistant", message=build_message("stop_sequence", "Invalid API key"), **failed)
    assert (signal.state, signal.flags.auth_needed) == ("error", True)
    assert signal.payload == {"error": "authentication_failed", "message": "Invalid API key"}


@pytest.mark.parametrize("kind", ["ai-title", "custom-title"])
def test_a_title_line_sets_the_title(kind: str) -> None:
    (signal,) = read_transcript_line(
        kind, aiTitle="Mend the build", customTitle="" if kind == "ai-title" else "Mend the build"
    )
    assert (signal.kind, signal.title) == ("note", "Mend the build")


def test_a_cost_line_sums_the_usage_of_all_models() -> None:
    one = {"inputTokens": 100, "outputTokens": 20, "cacheReadInputTokens": 7, "cacheCreationInputTokens": 3}
    (signal,) = read_transcript_line(
        "cost-state", totalCostUSD=0.74, modelUsage={"opus": one, "haiku": {"inputTokens": 1}}
    )
    assert signal.payload == {"total": 131, "input": 101, "output": 20, "cached": 10, "reasoning": 0, "cost": 0.74}


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("user", {"message": {"content": [{"type": "tool_result", "content": "hi"}]}}),
        ("user", {"message": {"content": "<command-name>/compact</command-name>"}}),
        ("user", {"message": {"content": "x"}, "promptSource": "typed", "isMeta": True}),
        ("user", {"message": {"content": "x"}, "promptSource": "typed", "isSidechain": True}),
        ("user", {"message": {"content": "x"}, "promptSource": "sdk", "entrypoint": "sdk-cli"}),
        ("assistant", {"message": {"content": "half of"}, "isAbortedMidStream": True}),
        ("attachment", {"attachment": {"type": "date"}}),
        ("kind-of-tomorrow", {}),
    ],
)
def test_irrelevant_lines_give_no_signal(kind: str, fields: dict) -> None:
    assert read_transcript_line(kind, **fields) == []


def test_a_line_without_a_timestamp_has_the_time_it_was_read() -> None:
    assert read_transcript_line("ai-title", aiTitle="x", timestamp="")[0].event_at == NOW
    assert read_transcript_line("ai-title", aiTitle="x", timestamp="2026-11-16T04:16:00")[0].event_at == NOW


def read_messages(kind: str, **fields) -> list[TranscriptText]:
    line = {"type": kind, "sessionId": "s1", "uuid": "u1", "entrypoint": "cli", **fields}
    return list(ADAPTER.read_transcript(SourceRecord(source="transcript", text=json.dumps(line), at=9)))


def text_message(text: str, **fields) -> dict:
    return {"message": {"id": "m1", "content": [{"type": "text", "text": text}]}, **fields}


def test_a_message_in_two_lines_has_one_key() -> None:
    (one,), (other,) = (
        read_messages("assistant", **text_message("hi")),
        read_messages("assistant", uuid="u2", **text_message("hi")),
    )
    assert one.key == other.key
    assert read_messages("assistant", **text_message("ho"))[0].key != one.key


@pytest.mark.parametrize(
    "line",
    [
        text_message("<command-name>/clear</command-name>"),
        text_message("[Request interrupted by user]"),
        text_message("Caveat", isMeta=True),
        text_message("look into it", isSidechain=True),
        text_message("go on", promptSource="system"),
        text_message("hello", entrypoint="sdk-cli"),
        {"message": {"content": [{"type": "tool_result", "content": "secret files"}]}},
        {"message": {"content": "  "}},
        {},
    ],
)
def test_generated_user_messages_are_left_out(line: dict) -> None:
    assert read_messages("user", **line) == []


def test_an_api_error_is_not_a_message() -> None:
    assert read_messages("assistant", isApiErrorMessage=True, **text_message("Overloaded")) == []
