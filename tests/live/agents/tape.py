"""Takes up what a real agent leaves behind, lets its adapter read it, and records it where that is wanted."""

import os
import re
import time
from collections.abc import Callable

import msgspec

from termvisor.agents.adapters.adapter import Adapter, Process, Record
from termvisor.agents.adapters.dialog_options import Press
from termvisor.agents.sources.pane_processes import Processes
from termvisor.model.agent.agent_process import Place, Runtime
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId
from termvisor.model.terminal.screen import Screen
from termvisor.model.terminal.target import LOCAL
from termvisor.system.foreground_process import began_at
from tests.live.agents.ears import Ears
from tests.live.agents.lab import PARTS
from tests.live.agents.stage import PATIENCE, Stage
from tests.live.waiting import until
from tests.recordings.scene import Meaning, Play, Scene, differences, write

IS_RECORDING = os.environ.get("RECORD") == "1"
VERSIONS = {
    "claude_code": "2.1.325",
    "codex": "0.166.0",
    "gemini": "0.61.0",
    "opencode": "1.18.33",
    "copilot": "1.0.102",
}
_LONGEST = 6000
_TURNS = re.compile(r"^(?:[⠀-⣿]|\[ [!.] \])")
"""What in a title moves while nothing changes."""
_HOME = "/home/dev/agent"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ID = re.compile(r"\b(toolu|msg|req|call|resp|ctc|fc|ses|per|que|prt)_[0-9A-Za-z]{12,}\b")


class Tape:
    """One run: a process, from its start. ``listening`` is how this agent is heard, where that is not as all are."""

    def __init__(self, run: str, stage: Stage, adapter: Adapter, listening: Callable[[Ears], list[Record]] = Ears.all):
        self.run, self.stage, self.adapter = run, stage, adapter
        self.process = until(self.recognised, seconds=PATIENCE)
        runtime = Runtime(
            id=RuntimeId(1),
            pane=PaneId(1),
            place=Place(LOCAL.name, stage.tmux.socket, MuxPaneId(stage.pane)),
            agent=adapter.name,
            pid=self.process.pid,
            pid_started=self.process.pid_started,
            cwd=self.process.cwd,
            started_at=began_at(self.process.pid_started, time.time_ns()),
        )
        self.play = Play(adapter, runtime)
        self.number = 0
        self._ears, self._listening = Ears(stage, adapter, self.process, runtime), listening
        self._since: list[Record] = []
        self._names: dict[str, str] = {}

    def recognised(self) -> Process | None:
        """What the adapter takes for the agent among all that runs in the pane."""
        first = int(self.stage.tmux.ask(self.stage.pane, "#{pane_pid}"))
        found = Processes(self.adapter.env_names).survey({self.stage.pane: first})
        return self.adapter.recognise(found[self.stage.pane])

    def session(self, source: str = "") -> str:
        """As the agent told it last, there or anywhere."""
        said = (one for one in reversed(self.play.signals) if source in ("", one.source))
        return next(one.session for one in said if one.session)

    def scene(self, name: str, **expected: str | int | bool) -> None:
        """Wait until it means what is expected; record it then."""
        shown = self.comes_to(**expected)
        self.number += 1
        if IS_RECORDING:
            self._record(name, expected, shown)
        self._since = []
        self.play.next_scene()

    def comes_to(self, **expected: str | int | bool) -> Screen:
        """Wait until it means what is expected; the screen at that moment."""
        wrong: dict[str, tuple[object, object]] = {}

        def right() -> Screen | None:
            self.listen()
            shown = self.screen()
            wrong.clear()
            wrong.update(differences(expected, self.play.meaning(shown)))
            return None if wrong else shown

        try:
            return until(right, seconds=PATIENCE)
        except AssertionError:
            said = [(one.source, one.state, one.kind, one.payload) for one in self.play.signals[-12:]]
            raise AssertionError(f"expected and found {wrong}\n{said}\n{self.stage.text()}") from None

    def screen(self) -> Screen:
        return msgspec.structs.replace(self.stage.screen(), at=time.time_ns())

    def obey(self, press: Callable[[Screen], Press | None]) -> None:
        """Press what fits the screen, and again while it still does: a dialog that is new swallows keys."""
        until(lambda: press(self.stage.screen()), seconds=PATIENCE)
        until(lambda: self._is_obeyed(press(self.stage.screen())), seconds=PATIENCE)

    def obey_once(self, press: Callable[[Screen], Press | None]) -> None:
        """The same where keys must not come twice: the dialog has stood for a while, and reads them by now."""
        until(lambda: press(self.stage.screen()), seconds=PATIENCE)
        self.stage.rests()
        wanted = press(self.stage.screen())
        assert wanted is not None
        self._press(wanted)

    def _press(self, wanted: Press) -> None:
        for key in wanted.keys:
            self.stage.press(key)
            time.sleep(wanted.pause)  # the pause that the value itself asks for

    def _is_obeyed(self, wanted: Press | None) -> bool:
        if wanted is None:
            return True
        self._press(wanted)
        before, patience = self.adapter.look(self.stage.screen()), iter(range(10))
        until(lambda: self.adapter.look(self.stage.screen()) != before or next(patience, None) is None)
        return False

    def listen(self) -> None:
        """Take up what is new."""
        new = self._listening(self._ears)
        self._since += new
        self.play.hear(new)

    def _record(self, name: str, expected: Meaning, shown: Screen) -> None:
        telling = [one for one in self._since if self.adapter.read(one) and len(one.text) < _LONGEST]
        scene = Scene(
            agent=self.adapter.name,
            version=VERSIONS[self.adapter.name],
            run=self.run,
            number=self.number,
            name=name,
            runtime=self.play.runtime,
            records=tuple(_without_turning(telling)),
            screen=shown,
            expected=expected,
        )
        write(msgspec.json.decode(self._neutral(msgspec.json.encode(scene).decode()), type=Scene))

    def _neutral(self, text: str) -> str:
        """Without the paths, numbers and names of this machine."""
        place, process, tmux = self.stage.place, self.process, self.stage.tmux
        folder = str(place.folder)
        port = place.model.rpartition(":")[2]
        plain = {
            folder: _HOME,
            folder.lstrip("/"): _HOME.lstrip("/"),
            re.sub(r"[^a-zA-Z0-9]", "-", folder): _HOME.replace("/", "-"),
            str(PARTS): "/opt/agents",
            tmux.socket: "/tmp/tmux-1000/default",
            f"127.0.0.1:{port}": "127.0.0.1:8787",
            tmux.ask(self.stage.pane, ",#{pid},"): ",4000,",
        }
        for old, new in plain.items():
            text = text.replace(old, new)
        text = re.sub(r'(Ask anything…) \\"[^"]*\\"', r"\1", text)  # another hint at every start
        text = re.sub(rf"\b{process.pid}\b", "4242", text)
        text = re.sub(rf"\b{process.pid_started}\b", "77000", text)
        text = re.sub(r"linux:[0-9a-f]{32}:pid:\[\d+\]", "linux:0:pid:[1]", text)
        text = _UUID.sub(lambda found: self._name(found[0], "00000000-0000-4000-8000-{:012d}"), text)
        return _ID.sub(lambda found: self._name(found[0], found[1] + "_{:012d}"), text)

    def _name(self, old: str, form: str) -> str:
        return self._names.setdefault(old, form.format(len(self._names) + 1))


def _without_turning(records: list[Record]) -> list[Record]:
    """A spinner turns ten times a second; one turn is enough."""
    kept: list[Record] = []
    for record in records:
        titles = [_still(one.text) for one in kept if one.source == "title"]
        if record.source != "title" or titles[-1:] != [_still(record.text)]:
            kept.append(record)
    return kept


def _still(title: str) -> str:
    return _TURNS.sub("~", title.rstrip())
