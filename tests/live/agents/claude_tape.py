"""Takes up what a real Claude Code leaves behind, lets the adapter read it, and records it where that is wanted."""

import json
import os
import re
import time
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from termvisor.agents.base import Record, Watch
from termvisor.agents.claude_code import ADAPTER
from termvisor.ingest.agents.hook_line import understood
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId
from termvisor.model.runtime import Place, Runtime
from termvisor.model.target import LOCAL
from tests.live.agents.claude_stage import SPOOL, ClaudeStage
from tests.live.waiting import until
from tests.recordings.scene import Meaning, Play, Scene, differences, write

VERSION = "2.1.325"
IS_RECORDING = os.environ.get("RECORD") == "1"
_LONGEST = 6000
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ID = re.compile(r"\b(toolu|msg|req)_[0-9a-f]{16}\b")


@dataclass
class Figures:
    """Milliseconds from the agent's change to the word of it on disk."""

    registry: list[float] = field(default_factory=list)
    hook: list[float] = field(default_factory=list)


class Tape:
    """One run: a process, from its start."""

    def __init__(self, run: str, stage: ClaudeStage, figures: Figures, *, after: "Tape | None" = None):
        self.run, self.stage, self.figures = run, stage, figures
        self.process = until(stage.recognised)
        runtime = Runtime(
            id=RuntimeId(1),
            pane=PaneId(1),
            place=Place(LOCAL.name, stage.tmux.socket, MuxPaneId(stage.pane)),
            agent=ADAPTER.name,
            pid=self.process.pid,
            pid_started=self.process.pid_started,
            cwd=self.process.cwd,
            started_at=time.time_ns() - 60 * 10**9,
        )
        self.play = Play(ADAPTER, runtime)
        self.number = 0
        self._watches = {watch.source: watch for watch in ADAPTER.watches(self.process)}
        self._registry = ""
        self._read: dict[Path, int] = dict(after._read) if after else {}
        self._since: list[Record] = []
        self._names: dict[str, str] = {}
        self._prompts: dict[str, dict[str, int]] = {}

    def scene(self, name: str, **expected: str | int | bool) -> None:
        """Wait until it means what is expected; record it then."""
        try:
            until(lambda: not self._differences(expected), seconds=25)
        except AssertionError as error:
            raise AssertionError(f"{name}: expected and found {self._differences(expected)}") from error
        self.number += 1
        if IS_RECORDING:
            self._record(name, expected)
        self._since = []
        self.play.next_scene()

    def _differences(self, expected: Meaning) -> dict[str, tuple[object, object]]:
        self.listen()
        return differences(expected, self.play.meaning(self.stage.screen()))

    def listen(self) -> None:
        """Take up what is new."""
        new = [*self._hooks(), *self._registry_now(), *self._lines()]
        self._since += new
        self.play.hear(new)
        self._measure(new)

    @property
    def sessions(self) -> tuple[str, ...]:
        """Those that are taken for the agent's own."""
        return self.play.knowledge.roster.tenants[self.play.runtime.id].sessions

    def _measure(self, records: list[Record]) -> None:
        """From the prompt's own time, in the transcript, to the line of the hook that tells it."""
        prompted = [one for record in records for one in ADAPTER.read(record) if "prompt" in one.payload]
        for one in prompted:
            self._prompts.setdefault(str(one.payload["prompt"]), {})[one.source] = one.event_at
        for times in self._prompts.values():
            if "hook" in times and "transcript" in times:
                self.figures.hook.append((times.pop("hook") - times.pop("transcript")) / 1e6)

    @property
    def _spool(self) -> Path:
        return self.stage.place.folder / SPOOL

    def _transcripts(self) -> list[Path]:
        watch = next(one for one in ADAPTER.watches(self.process) if one.source == "transcript")
        return sorted(Path(watch.folder).glob(watch.pattern))

    def _registry_now(self) -> list[Record]:
        watch: Watch = self._watches["registry"]
        path = Path(watch.folder) / watch.pattern
        text = path.read_text() if path.exists() else ""
        if text == self._registry or not (text or self._registry):
            return []
        self._registry = text
        if text and (changed := json.loads(text).get("statusUpdatedAt")):
            self.figures.registry.append(path.stat().st_mtime_ns / 1e6 - changed)
        return [Record(source="registry", text=text, at=time.time_ns(), path=str(path), hint=watch.hint)]

    def _hooks(self) -> list[Record]:
        lines = [(line, understood(line.encode())) for line in self._fresh(self._spool)]
        return [Record(source="hook", text=line, at=time.time_ns(), hint=known.hint) for line, known in lines if known]

    def _lines(self) -> list[Record]:
        hint = self._watches["transcript"].hint
        return [
            Record(source="transcript", text=line, at=time.time_ns(), path=str(path), hint=hint)
            for path in self._transcripts()
            for line in self._fresh(path)
        ]

    def _fresh(self, path: Path) -> list[str]:
        """The whole lines that were added since the last time."""
        if not path.exists():
            return []
        data = path.read_bytes()
        start, end = self._read.get(path, 0), data.rfind(b"\n") + 1
        self._read[path] = end
        return data[start:end].decode().splitlines()

    def _record(self, name: str, expected: Meaning) -> None:
        telling = [one for one in self._since if ADAPTER.read(one) and len(one.text) < _LONGEST]
        scene = Scene(
            agent=ADAPTER.name,
            version=VERSION,
            run=self.run,
            number=self.number,
            name=name,
            runtime=self.play.runtime,
            records=tuple(telling),
            screen=self.stage.screen(),
            expected=expected,
        )
        write(msgspec.json.decode(self._neutral(msgspec.json.encode(scene).decode()), type=Scene))

    def _neutral(self, text: str) -> str:
        """Without the paths, numbers and names of this machine."""
        place, process = self.stage.place, self.process
        folder = str(place.folder)
        port = place.model.rpartition(":")[2]
        tmux = self.stage.tmux
        plain = {
            folder: "/home/dev/claude",
            re.sub(r"[^a-zA-Z0-9]", "-", folder): "-home-dev-claude",
            tmux.socket: "/tmp/tmux-1000/default",
            f"127.0.0.1:{port}": "127.0.0.1:8787",
            tmux.ask(self.stage.pane, ",#{pid},"): ",4000,",
        }
        for old, new in plain.items():
            text = text.replace(old, new)
        text = re.sub(rf"\b{process.pid}\b", "4242", text)
        text = re.sub(rf"\b{process.pid_started}\b", "77000", text)
        text = re.sub(r"linux:[0-9a-f]{32}:pid:\[\d+\]", "linux:0:pid:[1]", text)
        text = _UUID.sub(lambda found: self._name(found[0], "00000000-0000-4000-8000-{:012d}"), text)
        return _ID.sub(lambda found: self._name(found[0], found[1] + "_{:04d}"), text)

    def _name(self, old: str, form: str) -> str:
        return self._names.setdefault(old, form.format(len(self._names) + 1))
