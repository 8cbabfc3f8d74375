"""The transcript: ``projects/<folder>/<session>.jsonl``, a line for every message of the conversation.

It tells what no hook tells: an interrupt, the tokens, the title. Its lines are those of the session that they name;
who else works in the same folder has lines of their own there. Most kinds of lines say nothing of the state.
"""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.claude_code.error_codes import build_error_flags
from termvisor.agents.adapters.json_access import JSON_ERRORS, parse_timestamp
from termvisor.agents.adapters.statements import AgentStatement, add_context, build_payload, build_unknown_statement
from termvisor.model.event import Scalar

INTERRUPT_PREFIX = "[Request interrupted by user"
SUBAGENT_SOURCE = "subagents"
"""The source of the files that sub-agents have of their own."""
INTERACTIVE_ENTRYPOINTS = ("cli", "")
"""Where the person sits who talks to it; `claude -p` in the same folder says ``sdk-cli``, some lines say nothing."""


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
    try:
        line = msgspec.json.decode(record.text, type=ClaudeTranscriptLine)
    except JSON_ERRORS:
        return [build_unknown_statement("a line of the transcript of another form")]
    tell = _read_sidechain_message if line.is_sidechain else LINE_READERS.get(line.type)
    if tell is None or line.entrypoint not in INTERACTIVE_ENTRYPOINTS:
        return []
    return add_context(
        tell(line, record.at), at=parse_timestamp(line.timestamp), session=line.session_id, key=line.uuid
    )


def read_subagent_transcript(record: SourceRecord) -> list[AgentStatement]:
    """Only what they took. Several files grow at once, so what counts is when a line was read."""
    try:
        line = msgspec.json.decode(record.text, type=ClaudeTranscriptLine)
    except JSON_ERRORS:
        return []
    is_ours = line.entrypoint in INTERACTIVE_ENTRYPOINTS
    return (
        add_context(_read_sidechain_message(line, record.at), session=line.session_id, key=line.uuid) if is_ours else []
    )


def _read_user_message(line: ClaudeTranscriptLine, _: int) -> Iterable[AgentStatement]:
    if line.is_meta or line.message is None:
        return
    text = extract_text(line.message.content)
    if text.startswith(INTERRUPT_PREFIX):
        yield AgentStatement(state="idle", payload=build_payload(interrupted=text.strip("[]")))
    elif line.prompt_source:
        prompt = "" if line.prompt_source == "system" else text
        yield AgentStatement(state="running", payload=build_payload(prompt=prompt, version=line.version))


def _read_assistant_message(line: ClaudeTranscriptLine, now: int) -> Iterable[AgentStatement]:
    message = line.message
    if message is None or line.is_aborted_mid_stream:
        return
    text = extract_text(message.content)
    if line.is_api_error_message:
        about = build_payload(error=line.error, message=text)
        yield AgentStatement(state="error", flags=build_error_flags(line.error, text, now), payload=about)
    elif message.stop_reason == "end_turn":
        yield AgentStatement(
            state="completed", payload={**_build_context_payload(line, message), **build_payload(last_message=text)}
        )
    else:
        yield AgentStatement(state="running", payload=_build_context_payload(line, message))


def _read_sidechain_message(line: ClaudeTranscriptLine, _: int) -> Iterable[AgentStatement]:
    """A sub-agent's answers are no state of the agent, but they are paid for as well."""
    if line.message is not None and line.message.usage is not None and line.message.id:
        yield AgentStatement(
            kind="note",
            payload={**build_payload(message_model=line.message.model), **_build_usage_payload(line.message)},
        )


def _read_title(line: ClaudeTranscriptLine, _: int) -> Iterable[AgentStatement]:
    yield AgentStatement(kind="note", title=line.custom_title or line.ai_title)


def _read_cost_totals(line: ClaudeTranscriptLine, _: int) -> Iterable[AgentStatement]:
    """What the session used in all, by its own account, when it ends."""
    counted = line.model_usage.values()

    def sum_tokens(*names: str) -> int:
        return int(sum(one.get(name, 0) for one in counted for name in names))

    given, cached = sum_tokens("inputTokens"), sum_tokens("cacheReadInputTokens", "cacheCreationInputTokens")
    written = sum_tokens("outputTokens")
    about = build_payload(
        total=given + cached + written,
        input=given,
        output=written,
        cached=cached,
        reasoning=sum_tokens("thinkingTokens"),
        cost=line.total_cost_usd,
    )
    yield AgentStatement(kind="note", payload=about)


LINE_READERS: dict[str, Callable[[ClaudeTranscriptLine, int], Iterable[AgentStatement]]] = {
    "user": _read_user_message,
    "assistant": _read_assistant_message,
    "ai-title": _read_title,
    "custom-title": _read_title,
    "cost-state": _read_cost_totals,
}


def _build_context_payload(line: ClaudeTranscriptLine, message: ClaudeMessage) -> dict[str, Scalar]:
    """``context_used`` in tokens. The blocks of one message are lines of their own, each with the whole usage."""
    used = message.usage or ClaudeTokenUsage()
    cached = used.cache_read_input_tokens + used.cache_creation_input_tokens
    context = used.input_tokens + cached + used.output_tokens
    told = build_payload(model=message.model, version=line.version, context_used=context or None)
    return {**told, **_build_usage_payload(message)}


def _build_usage_payload(message: ClaudeMessage) -> dict[str, Scalar]:
    """What it took; the reader of the session counts each id once."""
    used = message.usage or ClaudeTokenUsage()
    return build_payload(
        message_id=message.id,
        message_input=used.input_tokens,
        message_output=used.output_tokens,
        message_cached=used.cache_read_input_tokens + used.cache_creation_input_tokens,
        message_written=used.cache_creation_input_tokens,
    )


def extract_text(content: Any) -> str:
    """The words of a message; a tool's result has none."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))
