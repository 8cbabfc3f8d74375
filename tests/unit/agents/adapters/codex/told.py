"""Records as the sources of Codex hand them on."""

import json

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.adapters.codex import ADAPTER
from termvisor.model.agent.signal import Hint, Signal

AT = 1_794_802_600_000_000_000
OWN = Hint(pid=7, pid_started=77)


def record(source: str, value: object, **fields: object) -> Record:
    text = value if isinstance(value, str) else json.dumps(value)
    return Record(source=source, text=text, at=AT, **fields)


def read(source: str, value: object, **fields: object) -> list[Signal]:
    return list(ADAPTER.read(record(source, value, **fields)))


def one(source: str, value: object, **fields: object) -> Signal:
    (signal,) = read(source, value, **fields)
    return signal
