"""Facts as they may be stored: free text without secrets, and short. Whoever read it cleaned it; this is the door."""

from collections.abc import Sequence

from msgspec.structs import replace

from termvisor.model.agent.agent_process import Fact
from termvisor.model.agent.signal import Signal
from termvisor.model.event import Scalar
from termvisor.redaction import redact_each

MAX_TEXT_CHARS = 2000
_MAX_PAYLOAD_KEYS = 32


def redact_fact(fact: Fact) -> Fact:
    if not isinstance(fact, Signal) or not (fact.payload or fact.title):
        return fact
    given = list(fact.payload.items())[:_MAX_PAYLOAD_KEYS]
    shown = iter(redact_each([*_list_texts(given), *([fact.title] if fact.title else [])]))
    payload = {name[:64]: next(shown)[:MAX_TEXT_CHARS] if isinstance(value, str) else value for name, value in given}
    return replace(fact, payload=payload, title=next(shown)[:MAX_TEXT_CHARS] if fact.title else fact.title)


def _list_texts(given: Sequence[tuple[str, Scalar]]) -> list[str]:
    return [value for _, value in given if isinstance(value, str)]
