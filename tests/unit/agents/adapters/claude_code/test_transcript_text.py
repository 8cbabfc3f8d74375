"""Prompts and answers in Claude Code transcripts."""

import json

import pytest

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.claude_code import ADAPTER
from termvisor.agents.adapters.transcript_text import TranscriptText


def claude(kind: str, **fields) -> list[TranscriptText]:
    line = {"type": kind, "sessionId": "s1", "uuid": "u1", "entrypoint": "cli", **fields}
    return list(ADAPTER.read_transcript(SourceRecord(source="transcript", text=json.dumps(line), at=9)))


def message(text: str, **fields) -> dict:
    return {"message": {"id": "m1", "content": [{"type": "text", "text": text}]}, **fields}


def test_a_message_in_two_lines_has_one_key() -> None:
    (one,), (other,) = claude("assistant", **message("hi")), claude("assistant", uuid="u2", **message("hi"))
    assert one.key == other.key
    assert claude("assistant", **message("ho"))[0].key != one.key


@pytest.mark.parametrize(
    "line",
    [
        message("<command-name>/clear</command-name>"),
        message("[Request interrupted by user]"),
        message("Caveat", isMeta=True),
        message("look into it", isSidechain=True),
        message("go on", promptSource="system"),
        message("hello", entrypoint="sdk-cli"),
        {"message": {"content": [{"type": "tool_result", "content": "secret files"}]}},
        {"message": {"content": "  "}},
        {},
    ],
)
def test_generated_user_messages_are_left_out(line: dict) -> None:
    assert claude("user", **line) == []


def test_an_api_error_is_no_message() -> None:
    assert claude("assistant", isApiErrorMessage=True, **message("Overloaded")) == []
