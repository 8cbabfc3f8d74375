"""All that one real agent leaves behind for others to read: hooks, files, and marks in its pane's output."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from termvisor.agents.adapters.adapter import Adapter, Process, Record, Watch
from termvisor.agents.sources.hook_record import understood
from termvisor.agents.tracking.signal_reader import MARKS, hint_of
from termvisor.model.agent.agent_process import Runtime
from tests.live.agents.codex_stage import House
from tests.live.agents.hooked import SPOOL
from tests.live.agents.stage import Stage


@dataclass
class Ears:
    """Each of its methods gives what is new since the last time."""

    stage: Stage
    adapter: Adapter
    process: Process
    runtime: Runtime
    files: dict[Path, str] = field(default_factory=dict)
    taken: int = 0

    def all(self) -> list[Record]:
        return [*self.hooks(), *self.watched(), *self.marks()]

    def hooks(self) -> list[Record]:
        lines = [(line, understood(line.encode())) for line in self.stage.hooks()]
        return [Record(source="hook", text=line, at=time.time_ns(), hint=known.hint) for line, known in lines if known]

    def watched(self) -> list[Record]:
        """Whole files, and lines that were added, as the adapter asks for them."""
        return [record for watch in self.adapter.watches(self.process) for record in self._of(watch)]

    def marks(self) -> list[Record]:
        declared = {source.name for source in self.adapter.sources}
        hint = hint_of(self.runtime)
        return [
            Record(source=source, text=mark.text, at=time.time_ns(), hint=hint, event_id=f"1@{mark.offset}")
            for mark in (self.stage.marks() if self.stage.output.exists() else ())
            if (source := MARKS.get(mark.kind, "")) in declared
        ]

    def _of(self, watch: Watch) -> Iterator[Record]:
        folder = Path(watch.folder)
        for path in sorted(folder.rglob(watch.pattern) if watch.is_deep else folder.glob(watch.pattern)):
            if (path.parent / watch.beside).exists():
                texts = self._whole(path) if watch.kind == "files" else self.stage.fresh(path)
                yield from (self._record(watch, path, text) for text in texts)
        if watch.kind == "files":
            gone = [path for path, text in self.files.items() if text and not path.exists()]
            yield from (self._record(watch, path, text) for path in gone for text in self._whole(path))

    def _whole(self, path: Path) -> list[str]:
        text = path.read_text() if path.exists() else ""
        is_new = self.files.get(path, "") != text
        self.files[path] = text
        return [text] if is_new else []

    def _record(self, watch: Watch, path: Path, text: str) -> Record:
        return Record(source=watch.source, text=text, at=time.time_ns(), path=str(path), hint=watch.hint)


@dataclass
class CodexEars:
    """Codex is also heard by its server. Many share that, and the hooks and notices: those of its folder are its."""

    house: House

    def __call__(self, ears: Ears) -> list[Record]:
        return [*ears.marks(), *self._server(ears), *self._told(ears), *ears.watched()]

    def _server(self, ears: Ears) -> list[Record]:
        records = self.house.listening.records[ears.taken :]
        ears.taken += len(records)
        return [one for one in records if one.hint.pid in (0, ears.process.pid)]

    def _told(self, ears: Ears) -> list[Record]:
        place = ears.stage.place
        notices = ears.stage.fresh(Path(f"{place.folder / SPOOL}.notify"))
        told = [("hook", line) for line in ears.stage.hooks()] + [("notify", line) for line in notices]
        own = f'"cwd":"{place.cwd}"'
        return [Record(source=source, text=line, at=time.time_ns()) for source, line in told if own in line]


@dataclass
class Figures:
    """Milliseconds from Claude Code's change to the word of it on disk."""

    registry: list[float] = field(default_factory=list)
    hook: list[float] = field(default_factory=list)
    _prompts: dict[str, dict[str, int]] = field(default_factory=dict)

    def __call__(self, ears: Ears) -> list[Record]:
        """All that is heard, measured."""
        records = ears.all()
        for record in records:
            if record.source == "registry" and record.text and Path(record.path).exists():
                self._take_registry(record)
            self._take_prompt(ears.adapter, record)
        return records

    def _take_registry(self, record: Record) -> None:
        if changed := json.loads(record.text).get("statusUpdatedAt"):
            self.registry.append(Path(record.path).stat().st_mtime_ns / 1e6 - changed)

    def _take_prompt(self, adapter: Adapter, record: Record) -> None:
        """From the prompt's own time, in the transcript, to the line of the hook that tells it."""
        for one in adapter.read(record):
            if "prompt" in one.payload:
                times = self._prompts.setdefault(str(one.payload["prompt"]), {})
                times[one.source] = one.event_at
                if "hook" in times and "transcript" in times:
                    self.hook.append((times.pop("hook") - times.pop("transcript")) / 1e6)
