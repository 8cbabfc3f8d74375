"""Takes up what a real Codex leaves behind, lets the adapter read it, and records it where that is wanted."""

import os
import re
import time
from pathlib import Path

import msgspec

from termvisor.agents.base import Record
from termvisor.agents.codex import ADAPTER
from termvisor.ingest.agents.foreground import began_at
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId
from termvisor.model.runtime import Place, Runtime
from termvisor.model.screen import Screen
from termvisor.model.signal import Hint
from termvisor.model.target import LOCAL
from tests.live.agents.codex_stage import House
from tests.live.agents.hooked import SPOOL
from tests.live.agents.lab import PARTS
from tests.live.agents.stage import Stage
from tests.live.waiting import until
from tests.recordings.scene import Meaning, Play, Scene, differences, write

VERSION = "0.166.0"
IS_RECORDING = os.environ.get("RECORD") == "1"
_LONGEST = 6000
_MARKS = {"agent": "osc", "title": "title"}
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ID = re.compile(r"\b(call|msg|resp|ctc|fc)_[0-9a-f]{16}\b")


class Tape:
    """One run: a process, from its start."""

    def __init__(self, run: str, house: House, stage: Stage):
        self.run, self.house, self.stage = run, house, stage
        self.process = until(lambda: house.process(stage))
        self.hint = Hint(pid=self.process.pid, pid_started=self.process.pid_started)
        runtime = Runtime(
            id=RuntimeId(1),
            pane=PaneId(1),
            place=Place(LOCAL.name, stage.tmux.socket, MuxPaneId(stage.pane)),
            agent=ADAPTER.name,
            pid=self.process.pid,
            pid_started=self.process.pid_started,
            cwd=self.process.cwd,
            started_at=began_at(self.process.pid_started, time.time_ns()),
        )
        self.play = Play(ADAPTER, runtime)
        self.number = 0
        self._taken = 0
        self._since: list[Record] = []
        self._names: dict[str, str] = {}

    @property
    def thread(self) -> str:
        """As the app-server told it of this process."""
        return next(one.session for one in reversed(self.play.signals) if one.source == "app_server" and one.session)

    def scene(self, name: str, **expected: str | int | bool) -> None:
        """Wait until it means what is expected; record it then."""
        self.comes_to(**expected)
        self.number += 1
        if IS_RECORDING:
            self._record(name, expected)
        self._since = []

    def comes_to(self, **expected: str | int | bool) -> None:
        wrong: dict[str, tuple[object, object]] = {}

        def is_right() -> bool:
            wrong.clear()
            wrong.update(self._differences(expected))
            return not wrong

        try:
            until(is_right, seconds=25)
        except AssertionError:
            said = [
                (one.source, one.state, one.kind, one.payload)
                for one in self.play.signals[-12:]
                if one.source != "title"
            ]
            raise AssertionError(f"{wrong}\n{said}\n{self.stage.text()}") from None

    def _differences(self, expected: Meaning) -> dict[str, tuple[object, object]]:
        self.listen()
        return differences(expected, self.play.meaning(self.screen()))

    def screen(self) -> Screen:
        return msgspec.structs.replace(self.stage.screen(), at=time.time_ns())

    def listen(self) -> None:
        """Take up what is new."""
        new = [*self._marks(), *self._server(), *self._hooks(), *self._notices(), *self._rollout()]
        self._since += new
        self.play.hear(new)

    def _marks(self) -> list[Record]:
        now = time.time_ns()
        return [
            Record(source=_MARKS[mark.kind], text=mark.text, at=now, hint=self.hint, event_id=f"1@{mark.offset}")
            for mark in self.stage.marks()
            if mark.kind in _MARKS
        ]

    def _server(self) -> list[Record]:
        records = self.house.listening.records[self._taken :]
        self._taken += len(records)
        return [one for one in records if one.hint.pid in (0, self.process.pid)]

    def _hooks(self) -> list[Record]:
        own = f'"cwd":"{self.stage.place.cwd}"'
        return [Record(source="hook", text=line, at=time.time_ns()) for line in self.stage.hooks() if own in line]

    def _notices(self) -> list[Record]:
        own, path = f'"cwd":"{self.stage.place.cwd}"', Path(f"{self.stage.place.folder / SPOOL}.notify")
        return [Record(source="notify", text=line, at=time.time_ns()) for line in self.stage.fresh(path) if own in line]

    def _rollout(self) -> list[Record]:
        return [
            Record(source="rollout", text=line, at=time.time_ns(), path=str(path), hint=watch.hint)
            for watch in ADAPTER.watches(self.process)
            for path in sorted(Path(watch.folder).rglob(watch.pattern))
            for line in self.stage.fresh(path)
        ]

    def _record(self, name: str, expected: Meaning) -> None:
        telling = [one for one in self._since if ADAPTER.read(one) and len(one.text) < _LONGEST]
        scene = Scene(
            agent=ADAPTER.name,
            version=VERSION,
            run=self.run,
            number=self.number,
            name=name,
            runtime=self.play.runtime,
            records=tuple(_without_turning(telling)),
            screen=self.screen(),
            expected=expected,
        )
        write(msgspec.json.decode(self._neutral(msgspec.json.encode(scene).decode()), type=Scene))

    def _neutral(self, text: str) -> str:
        """Without the paths, numbers and names of this machine."""
        place = self.stage.place
        plain = {
            str(place.folder): "/home/dev",
            str(PARTS): "/opt/agents",
            self.stage.tmux.socket: "/tmp/tmux-1000/default",
            place.model: "http://127.0.0.1:8787",
            place.model.removeprefix("http://"): "127.0.0.1:8787",
        }
        for old, new in plain.items():
            text = text.replace(old, new)
        text = re.sub(rf"\b{self.process.pid}\b", "4242", text)
        text = re.sub(rf"\b{self.process.pid_started}\b", "77000", text)
        text = _UUID.sub(lambda found: self._name(found[0], "00000000-0000-4000-8000-{:012d}"), text)
        return _ID.sub(lambda found: self._name(found[0], found[1] + "_{:04d}"), text)

    def _name(self, old: str, form: str) -> str:
        return self._names.setdefault(old, form.format(len(self._names) + 1))


def _without_turning(records: list[Record]) -> list[Record]:
    """A spinner turns ten times a second; one turn is enough."""
    kept: list[Record] = []
    for record in records:
        titles = [one.text[-8:] for one in kept if one.source == "title"]
        if record.source != "title" or titles[-1:] != [record.text[-8:]]:
            kept.append(record)
    return kept
