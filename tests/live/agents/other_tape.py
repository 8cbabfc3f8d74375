"""Takes up what a real agent leaves behind, lets its adapter read it, and records it where that is wanted."""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from termvisor.agents.base import Adapter, Process, Record
from termvisor.agents.choices import Press
from termvisor.ingest.agents.hook_line import understood
from termvisor.ingest.agents.processes import Processes
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId
from termvisor.model.runtime import Place, Runtime
from termvisor.model.screen import Screen
from termvisor.model.target import LOCAL
from termvisor.pipeline.knowing.hearing import MARKS, hint_of
from tests.live.agents.stage import Stage
from tests.live.waiting import until
from tests.recordings.scene import Meaning, Play, Scene, differences, write

IS_RECORDING = os.environ.get("RECORD") == "1"
VERSIONS = {"gemini": "0.61.0", "opencode": "1.18.33", "copilot": "1.0.102"}
_LONGEST = 6000
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ID = re.compile(r"\b(ses|msg|per|que|prt|call)_[0-9A-Za-z]{12,}\b")


class Tape:
    """One run: a process, from its start."""

    def __init__(self, run: str, stage: Stage, adapter: Adapter):
        self.run, self.stage, self.adapter = run, stage, adapter
        self.process = until(self.recognised)
        runtime = Runtime(
            id=RuntimeId(1),
            pane=PaneId(1),
            place=Place(LOCAL.name, stage.tmux.socket, MuxPaneId(stage.pane)),
            agent=adapter.name,
            pid=self.process.pid,
            pid_started=self.process.pid_started,
            cwd=self.process.cwd,
            started_at=time.time_ns() - 60 * 10**9,
        )
        self.play = Play(adapter, runtime)
        self.number = 0
        self._since: list[Record] = []
        self._names: dict[str, str] = {}

    def recognised(self) -> Process | None:
        """What the adapter takes for the agent among all that runs in the pane."""
        first = int(self.stage.tmux.ask(self.stage.pane, "#{pane_pid}"))
        found = Processes(self.adapter.env_names).survey({self.stage.pane: first})
        return self.adapter.recognise(found[self.stage.pane])

    def scene(self, name: str, **expected: str | int | bool) -> None:
        """Wait until it means what is expected; record it then."""
        try:
            until(lambda: not self._differences(expected), seconds=25)
        except AssertionError as error:
            raise AssertionError(
                f"{name}: expected and found {self._differences(expected)}\n{self.stage.text()}"
            ) from error
        self.number += 1
        if IS_RECORDING:
            self._record(name, expected)
        self._since = []
        self.play.next_scene()

    def obey(self, press: Callable[[Screen], Press | None]) -> None:
        """Press what fits the screen, and again while it still does: a dialog that is new swallows keys."""
        until(lambda: press(self.stage.screen()))
        until(lambda: self._is_obeyed(press(self.stage.screen())))

    def _is_obeyed(self, wanted: Press | None) -> bool:
        if wanted is None:
            return True
        for key in wanted.keys:
            self.stage.press(key)
            time.sleep(wanted.pause)  # the pause that the value itself asks for
        before, patience = self.adapter.look(self.stage.screen()), iter(range(10))
        until(lambda: self.adapter.look(self.stage.screen()) != before or next(patience, None) is None)
        return False

    def listen(self) -> None:
        """Take up what is new."""
        new = [*self._hooks(), *self._lines(), *self._marks()]
        self._since += new
        self.play.hear(new)

    def _differences(self, expected: Meaning) -> dict[str, tuple[object, object]]:
        self.listen()
        return differences(expected, self.play.meaning(self.stage.screen()))

    def _hooks(self) -> list[Record]:
        lines = [(line, understood(line.encode())) for line in self.stage.hooks()]
        return [Record(source="hook", text=line, at=time.time_ns(), hint=known.hint) for line, known in lines if known]

    def _lines(self) -> list[Record]:
        return [
            Record(source=watch.source, text=line, at=time.time_ns(), path=str(path), hint=watch.hint)
            for watch in self.adapter.watches(self.process)
            for path in sorted(Path(watch.folder).glob(f"**/{watch.pattern}"))
            if (path.parent / watch.beside).exists()
            for line in self.stage.fresh(path)
        ]

    def _marks(self) -> list[Record]:
        declared = {source.name for source in self.adapter.sources}
        heard = [(MARKS.get(mark.kind, ""), mark.text) for mark in self.stage.marks()]
        hint = hint_of(self.play.runtime)
        return [
            Record(source=source, text=text, at=time.time_ns(), hint=hint)
            for source, text in heard
            if source in declared
        ]

    def _record(self, name: str, expected: Meaning) -> None:
        telling = [one for one in self._since if self.adapter.read(one) and len(one.text) < _LONGEST]
        scene = Scene(
            agent=self.adapter.name,
            version=VERSIONS[self.adapter.name],
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
        place, process, tmux = self.stage.place, self.process, self.stage.tmux
        port = place.model.rpartition(":")[2]
        plain = {
            str(place.folder): "/home/dev/agent",
            str(place.folder).lstrip("/"): "home/dev/agent",
            tmux.socket: "/tmp/tmux-1000/default",
            f"127.0.0.1:{port}": "127.0.0.1:8787",
            tmux.ask(self.stage.pane, ",#{pid},"): ",4000,",
        }
        for old, new in plain.items():
            text = text.replace(old, new)
        text = re.sub(r'(Ask anything…) \\"[^"]*\\"', r"\1", text)  # another hint at every start
        text = re.sub(rf"\b{process.pid}\b", "4242", text)
        text = re.sub(rf"\b{process.pid_started}\b", "77000", text)
        text = _UUID.sub(lambda found: self._name(found[0], "00000000-0000-4000-8000-{:012d}"), text)
        return _ID.sub(lambda found: self._name(found[0], found[1] + "_{:012d}"), text)

    def _name(self, old: str, form: str) -> str:
        return self._names.setdefault(old, form.format(len(self._names) + 1))
