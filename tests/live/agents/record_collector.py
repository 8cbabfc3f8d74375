"""Collect the records of one real agent: hooks, files, and marks in its output."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from termvisor.agents.adapters.adapter import Adapter, ProcessInfo, SourceRecord, WatchedPath
from termvisor.agents.sources.hook_spool import parse_hook_record
from termvisor.agents.tracking.signal_reader import SOURCE_BY_MARK, build_hint
from termvisor.model.agent.agent_process import AgentProcess
from tests.live.agents.agent_pane import AgentPane
from tests.live.agents.codex_home import CodexHome
from tests.live.agents.hook_setup import SPOOL_PATH


@dataclass
class RecordCollector:
    """Collects records; each method returns what is new since its last call."""

    agent_pane: AgentPane
    adapter: Adapter
    process: ProcessInfo
    runtime: AgentProcess
    files: dict[Path, str] = field(default_factory=dict)
    server_records_taken: int = 0

    def collect_all(self) -> list[SourceRecord]:
        return [*self.collect_hooks(), *self.collect_watched(), *self.collect_marks()]

    def collect_hooks(self) -> list[SourceRecord]:
        lines = [(line, parse_hook_record(line.encode())) for line in self.agent_pane.read_hooks()]
        return [
            SourceRecord(source="hook", text=line, at=time.time_ns(), hint=known.hint) for line, known in lines if known
        ]

    def collect_watched(self) -> list[SourceRecord]:
        """Return whole files and added lines, as the adapter declares them."""
        return [record for watch in self.adapter.list_watched_paths(self.process) for record in self._read_watch(watch)]

    def collect_marks(self) -> list[SourceRecord]:
        declared = {source.name for source in self.adapter.sources}
        hint = build_hint(self.runtime)
        return [
            SourceRecord(source=source, text=mark.text, at=time.time_ns(), hint=hint, event_id=f"1@{mark.offset}")
            for mark in (self.agent_pane.read_marks() if self.agent_pane.output.exists() else ())
            if (source := SOURCE_BY_MARK.get(mark.kind, "")) in declared
        ]

    def _read_watch(self, watch: WatchedPath) -> Iterator[SourceRecord]:
        folder = Path(watch.folder)
        for path in sorted(folder.rglob(watch.pattern) if watch.is_deep else folder.glob(watch.pattern)):
            if (path.parent / watch.required_sibling).exists():
                texts = self._read_whole(path) if watch.kind == "files" else self.agent_pane.read_new_lines(path)
                yield from (self._build_record(watch, path, text) for text in texts)
        if watch.kind == "files":
            gone = [path for path, text in self.files.items() if text and not path.exists()]
            yield from (self._build_record(watch, path, text) for path in gone for text in self._read_whole(path))

    def _read_whole(self, path: Path) -> list[str]:
        text = path.read_text() if path.exists() else ""
        is_new = self.files.get(path, "") != text
        self.files[path] = text
        return [text] if is_new else []

    def _build_record(self, watch: WatchedPath, path: Path, text: str) -> SourceRecord:
        return SourceRecord(source=watch.source, text=text, at=time.time_ns(), path=str(path), hint=watch.hint)


@dataclass
class CodexRecordCollector:
    """Also collects from Codex' server. Server, hooks and notify lines are shared and filtered by folder."""

    codex_home: CodexHome

    def __call__(self, collector: RecordCollector) -> list[SourceRecord]:
        return [
            *collector.collect_marks(),
            *self._collect_server(collector),
            *self._collect_hooks(collector),
            *collector.collect_watched(),
        ]

    def _collect_server(self, collector: RecordCollector) -> list[SourceRecord]:
        records = self.codex_home.listener.records[collector.server_records_taken :]
        collector.server_records_taken += len(records)
        return [one for one in records if one.hint.pid in (0, collector.process.pid)]

    def _collect_hooks(self, collector: RecordCollector) -> list[SourceRecord]:
        place = collector.agent_pane.place
        notices = collector.agent_pane.read_new_lines(Path(f"{place.folder / SPOOL_PATH}.notify"))
        lines = [("hook", line) for line in collector.agent_pane.read_hooks()] + [("notify", line) for line in notices]
        own = f'"cwd":"{place.cwd}"'
        return [SourceRecord(source=source, text=line, at=time.time_ns()) for source, line in lines if own in line]


@dataclass
class LatencyFigures:
    """Milliseconds from Claude Code's change to its record on disk."""

    registry: list[float] = field(default_factory=list)
    hook: list[float] = field(default_factory=list)
    _prompts: dict[str, dict[str, int]] = field(default_factory=dict)

    def __call__(self, collector: RecordCollector) -> list[SourceRecord]:
        """Collect all records and measure their latency."""
        records = collector.collect_all()
        for record in records:
            if record.source == "registry" and record.text and Path(record.path).exists():
                self._measure_registry(record)
            self._measure_prompt(collector.adapter, record)
        return records

    def _measure_registry(self, record: SourceRecord) -> None:
        if changed := json.loads(record.text).get("statusUpdatedAt"):
            self.registry.append(Path(record.path).stat().st_mtime_ns / 1e6 - changed)

    def _measure_prompt(self, adapter: Adapter, record: SourceRecord) -> None:
        """Measure from the prompt's time in the transcript to its hook line."""
        for one in adapter.read_record(record):
            if "prompt" in one.payload:
                times = self._prompts.setdefault(str(one.payload["prompt"]), {})
                times[one.source] = one.event_at
                if "hook" in times and "transcript" in times:
                    self.hook.append((times.pop("hook") - times.pop("transcript")) / 1e6)
