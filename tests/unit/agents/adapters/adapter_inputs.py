"""Builders of records, processes and screens of any agent."""

import json
from collections.abc import Sequence

from termvisor.agents.adapters.adapter import Adapter, ProcessInfo, SourceRecord
from termvisor.model.agent.signal import ProcessHint, Signal
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen

NOW = 1_794_802_560 * 10**9  # 2026-11-16 04:16 UTC
SESSION = "00000000-0000-4000-8000-000000000001"
HORIZONTAL_RULE = "─" * 60


def build_process(*argv: str, pid: int = 42, **fields: object) -> ProcessInfo:
    return ProcessInfo(pid=pid, pid_started=7, argv=argv, **fields)  # type: ignore[arg-type]


def read_source_record(adapter: Adapter, source: str, text: str, **fields: object) -> list[Signal]:
    return list(adapter.read_record(SourceRecord(source=source, text=text, at=NOW, **fields)))  # type: ignore[arg-type]


def read_hook(adapter: Adapter, event: str, **payload: object) -> Signal | None:
    """Return the signal of one hook line, or None if it has none."""
    line = {"v": 1, "agent": adapter.name, "event": event, "at": NOW // 10**6 - 40, "pane": "%5", "pid": 42}
    signals = read_source_record(
        adapter, "hook", json.dumps({**line, "payload": payload}), hint=ProcessHint(pid=42), seq=7, event_id="0@7"
    )
    return signals[0] if signals else None


def read_hook_signal(adapter: Adapter, event: str, **payload: object) -> Signal:
    """Return the signal of one hook line that must have one."""
    signal = read_hook(adapter, event, **payload)
    assert signal is not None
    return signal


def build_screen(rows: str | Sequence[str], height: int = 40) -> Screen:
    lines = rows.split("\n") if isinstance(rows, str) else list(rows)
    return Screen(pane=PaneId(1), rows=(*lines, *[""] * (height - len(lines))), width=110, height=height, at=NOW)


def build_box(*rows: str, width: int = 60) -> list[str]:
    """Draw a frame around rows."""
    return [f"╭{'─' * width}╮", *(f"│ {row}".ljust(width + 1) + "│" for row in rows), f"╰{'─' * width}╯"]
