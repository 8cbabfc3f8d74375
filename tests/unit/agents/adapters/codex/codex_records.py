"""Builders of Codex records."""

import json

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.codex import ADAPTER
from termvisor.model.agent.signal import ProcessHint, Signal

READ_AT = 1_794_802_600_000_000_000
OWN_PROCESS = ProcessHint(pid=7, pid_started=77)


def build_record(source: str, value: object, **fields: object) -> SourceRecord:
    text = value if isinstance(value, str) else json.dumps(value)
    return SourceRecord(source=source, text=text, at=READ_AT, **fields)


def read_signals(source: str, value: object, **fields: object) -> list[Signal]:
    return list(ADAPTER.read_record(build_record(source, value, **fields)))


def read_one_signal(source: str, value: object, **fields: object) -> Signal:
    (signal,) = read_signals(source, value, **fields)
    return signal
