"""The transcript: ``projects/<folder>/<session>.jsonl``, a line for every message of the conversation.

It tells what no hook tells: an interrupt, the tokens, the title. Its lines are those of the session that they name;
who else works in the same folder has lines of their own there. Most kinds of lines say nothing of the state.
"""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec import Struct

from termvisor.agents.base import Record
from termvisor.agents.claude_code.recognise import AGENT
from termvisor.agents.claude_code.trouble import flags_of
from termvisor.agents.evidence import Said, framed, not_understood, payload, signals
from termvisor.agents.foreign import BROKEN, moment
from termvisor.model.event import Scalar
from termvisor.model.signal import Signal

INTERRUPTED = "[Request interrupted by user"
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


def read(record: Record) -> list[Signal]:
    try:
        line = msgspec.json.decode(record.text, type=Line)
    except BROKEN:
        return signals(AGENT, record, [not_understood("a line of the transcript of another form")])
    tell = KINDS.get(line.type)
    if tell is None or line.is_sidechain or line.entrypoint not in INTERACTIVE:
        return []
    told = framed(tell(line, record.at), at=moment(line.timestamp), session=line.session_id, key=line.uuid)
    return signals(AGENT, record, told)


def _user(line: Line, _: int) -> Iterable[Said]:
    if line.is_meta or line.message is None:
        return
    text = _text(line.message.content)
    if text.startswith(INTERRUPTED):
        yield Said(state="idle", payload=payload(interrupted=text.strip("[]")))
    elif line.prompt_source:
        prompt = "" if line.prompt_source == "system" else text
        yield Said(state="running", payload=payload(prompt=prompt, version=line.version))


def _assistant(line: Line, now: int) -> Iterable[Said]:
    message = line.message
    if message is None or line.is_aborted_mid_stream:
        return
    text = _text(message.content)
    if line.is_api_error_message:
        about = payload(error=line.error, message=text)
        yield Said(state="error", flags=flags_of(line.error, text, now), payload=about)
    elif message.stop_reason == "end_turn":
        yield Said(state="completed", payload={**_figures(line, message), **payload(last_message=text)})
    else:
        yield Said(state="running", payload=_figures(line, message))


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
    spent = payload(message_input=used.input_tokens, message_cached=cached, message_output=used.output_tokens)
    return {**told, **spent, **payload(message_id=message.id)}


def _text(content: Any) -> str:
    """The words of a message; a tool's result has none."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))
