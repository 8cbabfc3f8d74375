"""Read Claude Code transcripts: ``projects/<folder>/<session>.jsonl``, one line per message.

They report what hooks do not: interrupts, token usage, the title. A line belongs to the session it names; other
sessions in the same folder have their own lines. Most types of lines do not change the state.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.claude_code.error_codes import build_error_flags
from termvisor.agents.adapters.json_access import decode_json, parse_timestamp
from termvisor.agents.adapters.statements import (
    AgentStatement,
    add_context,
    build_payload,
    build_unknown_statement,
    hash_text,
)
from termvisor.agents.adapters.transcript_text import TranscriptText
from termvisor.model.event import Scalar

_INTERRUPT_PREFIX = "[Request interrupted by user"
# Source name of the transcripts of sub-agents.
SUBAGENT_SOURCE = "subagents"
# Entrypoints of interactive sessions; `claude -p` in the same folder has ``sdk-cli``, some lines have none.
_INTERACTIVE_ENTRYPOINTS = ("cli", "")


class ClaudeTokenUsage(Struct, frozen=True):
    input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0
    output_tokens: int = 0


class ClaudeMessage(Struct, frozen=True):
    id: str = ""
    model: str = ""
    content: Any = ""
    stop_reason: str | None = None
    usage: ClaudeTokenUsage | None = None


class ClaudeTranscriptLine(Struct, frozen=True, rename="camel"):
    """The fields of all types of lines; each type has some of them."""

    type: str = ""
    session_id: str = ""
    uuid: str = ""
    timestamp: str = ""
    version: str = ""
    entrypoint: str = ""
    is_sidechain: bool = False
    is_meta: bool = False
    is_api_error_message: bool = False
    is_aborted_mid_stream: bool = False
    error: str = ""
    prompt_source: str = ""
    message: ClaudeMessage | None = None
    ai_title: str = ""
    custom_title: str = ""
    total_cost_usd: float | None = msgspec.field(default=None, name="totalCostUSD")
    model_usage: dict[str, dict[str, float | int]] = msgspec.field(default_factory=dict)


def read_transcript(record: SourceRecord) -> list[AgentStatement]:
    """Parse one line of a transcript."""
    line = decode_json(record.text, ClaudeTranscriptLine)
    if line is None:
        return [build_unknown_statement("malformed transcript line")]
    read_line = _read_sidechain_message if line.is_sidechain else _LINE_READERS.get(line.type)
    if read_line is None or line.entrypoint not in _INTERACTIVE_ENTRYPOINTS:
        return []
    return add_context(
        read_line(line, record.at), at=parse_timestamp(line.timestamp), session=line.session_id, key=line.uuid
    )


def read_subagent_transcript(record: SourceRecord) -> list[AgentStatement]:
    """Return only the token usage. Several files grow at once, so the time of reading orders their lines."""
    line = decode_json(record.text, ClaudeTranscriptLine)
    if line is None or line.entrypoint not in _INTERACTIVE_ENTRYPOINTS:
        return []
    return add_context(_read_sidechain_message(line, record.at), session=line.session_id, key=line.uuid)


def read_transcript_text(record: SourceRecord) -> Iterator[TranscriptText]:
    """Extract prompts and answers, without tool results and sub-agents."""
    line = decode_json(record.text, ClaudeTranscriptLine)
    if line is None or line.is_sidechain or line.is_meta or line.entrypoint not in _INTERACTIVE_ENTRYPOINTS:
        return
    message = line.message or ClaudeMessage()
    text = _extract_text(message.content)
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
    return is_typed and line.prompt_source != "system" and not text.startswith(_INTERRUPT_PREFIX)


def _read_user_message(line: ClaudeTranscriptLine, _: int) -> Iterable[AgentStatement]:
    if line.is_meta or line.message is None:
        return
    text = _extract_text(line.message.content)
    if text.startswith(_INTERRUPT_PREFIX):
        yield AgentStatement(state="idle", payload=build_payload(interrupted=text.strip("[]")))
    elif line.prompt_source:
        prompt = "" if line.prompt_source == "system" else text
        yield AgentStatement(state="running", payload=build_payload(prompt=prompt, version=line.version))


def _read_assistant_message(line: ClaudeTranscriptLine, now: int) -> Iterable[AgentStatement]:
    message = line.message
    if message is None or line.is_aborted_mid_stream:
        return
    text = _extract_text(message.content)
    if line.is_api_error_message:
        payload = build_payload(error=line.error, message=text)
        yield AgentStatement(state="error", flags=build_error_flags(line.error, text, now), payload=payload)
    elif message.stop_reason == "end_turn":
        yield AgentStatement(
            state="completed", payload={**_build_context_payload(line, message), **build_payload(last_message=text)}
        )
    else:
        yield AgentStatement(state="running", payload=_build_context_payload(line, message))


def _read_sidechain_message(line: ClaudeTranscriptLine, _: int) -> Iterable[AgentStatement]:
    # Messages of a sub-agent do not change the state, but their tokens count.
    if line.message is not None and line.message.usage is not None and line.message.id:
        yield AgentStatement(
            kind="note",
            payload={**build_payload(message_model=line.message.model), **_build_usage_payload(line.message)},
        )


def _read_title(line: ClaudeTranscriptLine, _: int) -> Iterable[AgentStatement]:
    yield AgentStatement(kind="note", title=line.custom_title or line.ai_title)


def _read_cost_totals(line: ClaudeTranscriptLine, _: int) -> Iterable[AgentStatement]:
    """Read the totals that a session reports when it ends."""

    def sum_tokens(*names: str) -> int:
        return int(sum(usage.get(name, 0) for usage in line.model_usage.values() for name in names))

    input_tokens, output_tokens = sum_tokens("inputTokens"), sum_tokens("outputTokens")
    cached_tokens = sum_tokens("cacheReadInputTokens", "cacheCreationInputTokens")
    payload = build_payload(
        total=input_tokens + cached_tokens + output_tokens,
        input=input_tokens,
        output=output_tokens,
        cached=cached_tokens,
        reasoning=sum_tokens("thinkingTokens"),
        cost=line.total_cost_usd,
    )
    yield AgentStatement(kind="note", payload=payload)


_LINE_READERS: dict[str, Callable[[ClaudeTranscriptLine, int], Iterable[AgentStatement]]] = {
    "user": _read_user_message,
    "assistant": _read_assistant_message,
    "ai-title": _read_title,
    "custom-title": _read_title,
    "cost-state": _read_cost_totals,
}


def _build_context_payload(line: ClaudeTranscriptLine, message: ClaudeMessage) -> dict[str, Scalar]:
    """Return the payload of an assistant message; ``context_used`` is in tokens."""
    usage = message.usage or ClaudeTokenUsage()
    cached_tokens = usage.cache_read_input_tokens + usage.cache_creation_input_tokens
    context = usage.input_tokens + cached_tokens + usage.output_tokens
    payload = build_payload(model=message.model, version=line.version, context_used=context or None)
    return {**payload, **_build_usage_payload(message)}


def _build_usage_payload(message: ClaudeMessage) -> dict[str, Scalar]:
    """Return the token usage of a message.

    Every block of a message is a line with the usage of the whole message, so the consumer counts each id once.
    """
    usage = message.usage or ClaudeTokenUsage()
    return build_payload(
        message_id=message.id,
        message_input=usage.input_tokens,
        message_output=usage.output_tokens,
        message_cached=usage.cache_read_input_tokens + usage.cache_creation_input_tokens,
        message_written=usage.cache_creation_input_tokens,
    )


def _extract_text(content: Any) -> str:
    """Return the text blocks of a message; empty for a tool result."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))
