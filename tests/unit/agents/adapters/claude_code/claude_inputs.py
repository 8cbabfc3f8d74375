"""Builders of Claude Code records and screens."""

import json

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.claude_code import ADAPTER
from termvisor.model.agent.signal import ProcessHint, Signal
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen

NOW = 1_794_802_560 * 10**9  # 2026-11-16 04:16 UTC
SESSION = "00000000-0000-4000-8000-000000000001"
HORIZONTAL_RULE = "─" * 60


def read_source_record(source: str, text: str, **fields: object) -> list[Signal]:
    return list(ADAPTER.read_record(SourceRecord(source=source, text=text, at=NOW, **fields)))


def read_hook(event: str, **payload: object) -> list[Signal]:
    line = {"v": 1, "agent": "claude_code", "event": event, "at": NOW // 10**6 - 40, "pane": "%5", "pid": 42}
    payload = {"session_id": SESSION, "hook_event_name": event, **payload}
    return read_source_record("hook", json.dumps({**line, "payload": payload}), hint=ProcessHint(pid=42), seq=7)


def read_transcript_line(kind: str, **fields: object) -> list[Signal]:
    common = {"type": kind, "sessionId": SESSION, "timestamp": "2026-11-16T04:15:59.900Z", "entrypoint": "cli"}
    return read_source_record("transcript", json.dumps({**common, "uuid": "u1", **fields}))


def build_screen(*rows: str) -> Screen:
    return Screen(pane=PaneId(1), rows=rows, width=60, height=40, at=NOW)


def build_composer_screen(
    *above: str, typed: str = "", footer: tuple[str, ...] = ("  ⏸ manual mode on · ? for shortcuts",)
) -> Screen:
    """Build a screen with the composer at its bottom."""
    return build_screen(*above, "", HORIZONTAL_RULE, f"❯ {typed}".rstrip(), HORIZONTAL_RULE, *footer, "", "")
