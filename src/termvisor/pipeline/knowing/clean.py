"""Facts as they may be stored: free text without secrets, and short. Whoever read it cleaned it; this is the door."""

from msgspec.structs import replace

from termvisor.model.event import Scalar
from termvisor.model.runtime import Fact
from termvisor.model.signal import Signal
from termvisor.redact import redact

LONGEST = 2000
_KEYS = 32


def clean(fact: Fact) -> Fact:
    if not isinstance(fact, Signal) or not (fact.payload or fact.title):
        return fact
    payload = {name[:64]: _value(value) for name, value in list(fact.payload.items())[:_KEYS]}
    return replace(fact, payload=payload, title=redact(fact.title)[:LONGEST] if fact.title else fact.title)


def _value(value: Scalar) -> Scalar:
    return redact(value)[:LONGEST] if isinstance(value, str) else value
