"""Extract prompts and answers from Claude Code transcripts, without tool results and sub-agents."""

from collections.abc import Iterator

import msgspec

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.claude_code.transcript import (
    INTERACTIVE_ENTRYPOINTS,
    INTERRUPT_PREFIX,
    ClaudeTranscriptLine,
    extract_text,
)
from termvisor.agents.adapters.json_access import JSON_ERRORS, parse_timestamp
from termvisor.agents.adapters.statements import hash_text
from termvisor.agents.adapters.transcript_text import TranscriptText

_SYNTHETIC_SOURCES = ("system",)


def read_transcript_text(record: SourceRecord) -> Iterator[TranscriptText]:
    try:
        line = msgspec.json.decode(record.text, type=ClaudeTranscriptLine)
    except JSON_ERRORS:
        return
    message = line.message
    if message is None or line.is_sidechain or line.is_meta or line.entrypoint not in INTERACTIVE_ENTRYPOINTS:
        return
    text = extract_text(message.content)
    if not text.strip() or not line.session_id:
        return
    at = parse_timestamp(line.timestamp)
    if line.type == "user" and _is_prompt(line, text):
        yield TranscriptText(role="user", text=text, session=line.session_id, key=line.uuid or hash_text(text), at=at)
    elif line.type == "assistant" and not line.is_api_error_message:
        key = f"{message.id}:{hash_text(text)}"
        yield TranscriptText(role="assistant", text=text, session=line.session_id, key=key, at=at)


def _is_prompt(line: ClaudeTranscriptLine, text: str) -> bool:
    """Return False for user messages that Claude Code generates: they begin with a tag or have another source."""
    is_typed = bool(line.prompt_source) or not text.startswith("<")
    return is_typed and line.prompt_source not in _SYNTHETIC_SOURCES and not text.startswith(INTERRUPT_PREFIX)
