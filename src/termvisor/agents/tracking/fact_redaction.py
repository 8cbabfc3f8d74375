"""Redact and truncate the free text of facts before they are stored, also if the reader already redacted it."""

from msgspec.structs import replace

from termvisor.model.agent.agent_process import Fact
from termvisor.model.agent.signal import Signal
from termvisor.redaction import redact_each

MAX_TEXT_CHARS = 2000
_MAX_PAYLOAD_KEYS = 32


def redact_fact(fact: Fact) -> Fact:
    if not isinstance(fact, Signal) or not (fact.payload or fact.title):
        return fact
    items = list(fact.payload.items())[:_MAX_PAYLOAD_KEYS]
    texts = [value for _, value in items if isinstance(value, str)]
    redacted = iter(redact_each([*texts, *([fact.title] if fact.title else [])]))
    payload = {name[:64]: next(redacted)[:MAX_TEXT_CHARS] if isinstance(value, str) else value for name, value in items}
    return replace(fact, payload=payload, title=next(redacted)[:MAX_TEXT_CHARS] if fact.title else fact.title)
