"""Transcript lines: turns, tokens, titles and interrupts."""

import json

import pytest

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.claude_code import ADAPTER
from termvisor.agents.adapters.transcript_text import TranscriptText
from tests.unit.agents.adapters.claude_code.claude_inputs import NOW, SESSION, read_transcript_line

USAGE = {"input_tokens": 10, "cache_read_input_tokens": 200, "cache_creation_input_tokens": 30, "output_tokens": 5}


def message(stop_reason: str | None, text: str = "hello") -> dict:
    content = [{"type": "text", "text": text}]
    return {"id": "msg_1", "model": "claude-opus-5-5", "content": content, "stop_reason": stop_reason, "usage": USAGE}


def test_a_prompt_begins_a_turn() -> None:
    (signal,) = read_transcript_line("user", message={"content": "do it"}, promptSource="typed", version="2.1.325")
    assert (signal.state, signal.payload["prompt"], signal.session) == ("running", "do it", SESSION)
    assert signal.event_at == NOW - 10**8


def test_a_generated_prompt_of_a_finished_task_is_no_user_message() -> None:
    (signal,) = read_transcript_line("user", message={"content": "<task-notification>"}, promptSource="system")
    assert signal.state == "running"
    assert "prompt" not in signal.payload


@pytest.mark.parametrize("words", ["[Request interrupted by user]", "[Request interrupted by user for tool use]"])
def test_an_interrupt_that_no_hook_tells_is_here(words: str) -> None:
    (signal,) = read_transcript_line("user", message={"content": [{"type": "text", "text": words}]})
    assert (signal.state, signal.payload["interrupted"]) == ("idle", words.strip("[]"))


def test_an_answer_ends_the_turn_and_tells_what_it_used() -> None:
    (signal,) = read_transcript_line("assistant", message=message("end_turn"))
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


def test_a_tool_goes_on_with_the_turn() -> None:
    (signal,) = read_transcript_line("assistant", message=message("tool_use"))
    assert signal.state == "running"


def test_an_error_is_one_and_says_what_is_needed() -> None:
    failed = {"isApiErrorMessage": True, "error": "authentication_failed"}
    (signal,) = read_transcript_line("assistant", message=message("stop_sequence", "Invalid API key"), **failed)
    assert (signal.state, signal.flags.auth_needed) == ("error", True)
    assert signal.payload == {"error": "authentication_failed", "message": "Invalid API key"}


@pytest.mark.parametrize("kind", ["ai-title", "custom-title"])
def test_its_own_name_for_the_session_is_the_title(kind: str) -> None:
    (signal,) = read_transcript_line(
        kind, aiTitle="Mend the build", customTitle="" if kind == "ai-title" else "Mend the build"
    )
    assert (signal.kind, signal.title) == ("note", "Mend the build")


def test_at_its_end_it_tells_what_it_used_in_all() -> None:
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
def test_what_is_no_news_of_this_agent_says_nothing(kind: str, fields: dict) -> None:
    assert read_transcript_line(kind, **fields) == []


def test_a_line_without_a_time_of_its_own_is_as_old_as_its_reading() -> None:
    assert read_transcript_line("ai-title", aiTitle="x", timestamp="")[0].event_at == NOW
    assert read_transcript_line("ai-title", aiTitle="x", timestamp="2026-11-16T04:16:00")[0].event_at == NOW


def claude(kind: str, **fields) -> list[TranscriptText]:
    line = {"type": kind, "sessionId": "s1", "uuid": "u1", "entrypoint": "cli", **fields}
    return list(ADAPTER.read_transcript(SourceRecord(source="transcript", text=json.dumps(line), at=9)))


def text_message(text: str, **fields) -> dict:
    return {"message": {"id": "m1", "content": [{"type": "text", "text": text}]}, **fields}


def test_a_message_in_two_lines_has_one_key() -> None:
    (one,), (other,) = claude("assistant", **text_message("hi")), claude("assistant", uuid="u2", **text_message("hi"))
    assert one.key == other.key
    assert claude("assistant", **text_message("ho"))[0].key != one.key


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
    assert claude("user", **line) == []


def test_an_api_error_is_no_message() -> None:
    assert claude("assistant", isApiErrorMessage=True, **text_message("Overloaded")) == []
