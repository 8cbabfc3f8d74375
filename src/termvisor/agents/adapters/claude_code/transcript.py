"""The transcript: ``projects/<folder>/<session>.jsonl``, a line for every message of the conversation.

It tells what no hook tells: an interrupt, the tokens, the title. Its lines are those of the session that they name;
who else works in the same folder has lines of their own there. Most kinds of lines say nothing of the state.
"""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.adapters.claude_code.error_codes import flags_of
from termvisor.agents.adapters.json_access import BROKEN, moment
from termvisor.agents.adapters.statements import Said, framed, not_understood, payload
from termvisor.model.event import Scalar

INTERRUPTED = "[Request interrupted by user"
SUBAGENTS = "subagents"
"""The source of the files that sub-agents have of their own."""
INTERACTIVE = ("cli", "")
"""Where the person sits who talks to it; `claude -p` in the same folder says ``sdk-cli``, some lines say nothing."""


class Usage(Struct, frozen=True):
    input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0
    output_tokens: int = 0


class Message(Struct, frozen=True):
    id: str = ""
    model: str = ""
    content: Any = ""
    stop_reason: str | None = None
    usage: Usage | None = None


class Line(Struct, frozen=True, rename="camel"):
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
    message: Message | None = None
    ai_title: str = ""
    custom_title: str = ""
    total_cost_usd: float | None = msgspec.field(default=None, name="totalCostUSD")
    model_usage: dict[str, dict[str, float | int]] = msgspec.field(default_factory=dict)


def read(record: Record) -> list[Said]:
    try:
        line = msgspec.json.decode(record.text, type=Line)
    except BROKEN:
        return [not_understood("a line of the transcript of another form")]
    tell = _sidechain if line.is_sidechain else KINDS.get(line.type)
    if tell is None or line.entrypoint not in INTERACTIVE:
        return []
    return framed(tell(line, record.at), at=moment(line.timestamp), session=line.session_id, key=line.uuid)


def read_subagents(record: Record) -> list[Said]:
    """Only what they took. Several files grow at once, so what counts is when a line was read."""
    try:
        line = msgspec.json.decode(record.text, type=Line)
    except BROKEN:
        return []
    is_ours = line.entrypoint in INTERACTIVE
    return framed(_sidechain(line, record.at), session=line.session_id, key=line.uuid) if is_ours else []


def _user(line: Line, _: int) -> Iterable[Said]:
    if line.is_meta or line.message is None:
        return
    text = said(line.message.content)
    if text.startswith(INTERRUPTED):
        yield Said(state="idle", payload=payload(interrupted=text.strip("[]")))
    elif line.prompt_source:
        prompt = "" if line.prompt_source == "system" else text
        yield Said(state="running", payload=payload(prompt=prompt, version=line.version))


def _assistant(line: Line, now: int) -> Iterable[Said]:
    message = line.message
    if message is None or line.is_aborted_mid_stream:
        return
    text = said(message.content)
    if line.is_api_error_message:
        about = payload(error=line.error, message=text)
        yield Said(state="error", flags=flags_of(line.error, text, now), payload=about)
    elif message.stop_reason == "end_turn":
        yield Said(state="completed", payload={**_figures(line, message), **payload(last_message=text)})
    else:
        yield Said(state="running", payload=_figures(line, message))


def _sidechain(line: Line, _: int) -> Iterable[Said]:
    """A sub-agent's answers are no state of the agent, but they are paid for as well."""
    if line.message is not None and line.message.usage is not None and line.message.id:
        yield Said(kind="note", payload={**payload(message_model=line.message.model), **_spent(line.message)})


def _titled(line: Line, _: int) -> Iterable[Said]:
    yield Said(kind="note", title=line.custom_title or line.ai_title)


def _totals(line: Line, _: int) -> Iterable[Said]:
    """What the session used in all, by its own account, when it ends."""
    counted = line.model_usage.values()

    def total(*names: str) -> int:
        return int(sum(one.get(name, 0) for one in counted for name in names))

    given, cached = total("inputTokens"), total("cacheReadInputTokens", "cacheCreationInputTokens")
    written = total("outputTokens")
    about = payload(
        total=given + cached + written,
        input=given,
        output=written,
        cached=cached,
        reasoning=total("thinkingTokens"),
        cost=line.total_cost_usd,
    )
    yield Said(kind="note", payload=about)


KINDS: dict[str, Callable[[Line, int], Iterable[Said]]] = {
    "user": _user,
    "assistant": _assistant,
    "ai-title": _titled,
    "custom-title": _titled,
    "cost-state": _totals,
}


def _figures(line: Line, message: Message) -> dict[str, Scalar]:
    """``context_used`` in tokens. The blocks of one message are lines of their own, each with the whole usage."""
    used = message.usage or Usage()
    cached = used.cache_read_input_tokens + used.cache_creation_input_tokens
    context = used.input_tokens + cached + used.output_tokens
    told = payload(model=message.model, version=line.version, context_used=context or None)
    return {**told, **_spent(message)}


def _spent(message: Message) -> dict[str, Scalar]:
    """What it took; the reader of the session counts each id once."""
    used = message.usage or Usage()
    return payload(
        message_id=message.id,
        message_input=used.input_tokens,
        message_output=used.output_tokens,
        message_cached=used.cache_read_input_tokens + used.cache_creation_input_tokens,
        message_written=used.cache_creation_input_tokens,
    )


def said(content: Any) -> str:
    """The words of a message; a tool's result has none."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))
