"""Collect the records of a real agent, let its adapter read them, and record scenes if requested."""

import os
import re
import time
from collections.abc import Callable

import msgspec

from termvisor.agents.adapters.adapter import Adapter, ProcessInfo, SourceRecord
from termvisor.agents.adapters.keyboard import KeyPress
from termvisor.agents.sources.process_scanner import PaneProcessScanner
from termvisor.model.agent.agent_process import AgentProcess, PaneLocation
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId
from termvisor.model.terminal.screen import Screen
from termvisor.model.terminal.target import LOCAL
from termvisor.system.process_lifetime import compute_start_instant
from tests.live.agents.agent_pane import STEP_TIMEOUT_S, AgentPane
from tests.live.agents.agent_programs import NODE_MODULES
from tests.live.agents.record_collector import RecordCollector
from tests.live.polling import wait_until
from tests.recordings.scene import Scene, SceneMeaning, SceneReplay, find_differences, write_scene

IS_RECORDING = os.environ.get("RECORD") == "1"
VERSIONS = {
    "claude_code": "2.1.325",
    "codex": "0.166.0",
    "gemini": "0.61.0",
    "opencode": "1.18.33",
    "copilot": "1.0.102",
}
_MAX_RECORD_CHARS = 6000
_TITLE_SPINNER = re.compile(r"^(?:[⠀-⣿]|\[ [!.] \])")
"""Characters of a title that change without a state change."""
_NEUTRAL_HOME = "/home/dev/agent"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ID = re.compile(r"\b(toolu|msg|req|call|resp|ctc|fc|ses|per|que|prt)_[0-9A-Za-z]{12,}\b")


class SceneRecorder:
    """One run of an agent process from its start, with an optional custom record collector."""

    def __init__(
        self,
        run: str,
        agent_pane: AgentPane,
        adapter: Adapter,
        collect: Callable[[RecordCollector], list[SourceRecord]] = RecordCollector.collect_all,
    ):
        self.run, self.agent_pane, self.adapter = run, agent_pane, adapter
        self.process = wait_until(self.find_process, timeout_s=STEP_TIMEOUT_S)
        runtime = AgentProcess(
            id=RuntimeId(1),
            pane=PaneId(1),
            place=PaneLocation(LOCAL.name, agent_pane.tmux.socket, MuxPaneId(agent_pane.pane)),
            agent=adapter.name,
            pid=self.process.pid,
            pid_started=self.process.pid_started,
            cwd=self.process.cwd,
            started_at=compute_start_instant(self.process.pid_started, time.time_ns()),
        )
        self.play = SceneReplay(adapter, runtime)
        self.number = 0
        self._collector, self._collect = RecordCollector(agent_pane, adapter, self.process, runtime), collect
        self._new_records: list[SourceRecord] = []
        self._neutral_ids: dict[str, str] = {}

    def find_process(self) -> ProcessInfo | None:
        """Return the process that the adapter identifies as the agent in the pane."""
        first = int(self.agent_pane.tmux.read_format(self.agent_pane.pane, "#{pane_pid}"))
        found = PaneProcessScanner(self.adapter.env_names).scan_sync({self.agent_pane.pane: first})
        return self.adapter.find_process(found[self.agent_pane.pane])

    def get_session(self, source: str = "") -> str:
        """Return the last reported session, of this source or of any."""
        signals = (one for one in reversed(self.play.signals) if source in ("", one.source))
        return next(one.session for one in signals if one.session)

    def record_scene(self, name: str, **expected: str | int | bool) -> None:
        """Wait until the signals and the screen mean what is expected, then record the scene."""
        shown = self.wait_for_meaning(**expected)
        self.number += 1
        if IS_RECORDING:
            self._write_scene(name, expected, shown)
        self._new_records = []
        self.play.start_next_scene()

    def wait_for_meaning(self, **expected: str | int | bool) -> Screen:
        """Wait until the signals and the screen mean what is expected, and return the screen."""
        wrong: dict[str, tuple[object, object]] = {}

        def check_meaning() -> Screen | None:
            self.collect_records()
            shown = self.capture_screen()
            wrong.clear()
            wrong.update(find_differences(expected, self.play.describe_scene(shown)))
            return None if wrong else shown

        try:
            return wait_until(check_meaning, timeout_s=STEP_TIMEOUT_S)
        except AssertionError:
            signals = [(one.source, one.state, one.kind, one.payload) for one in self.play.signals[-12:]]
            raise AssertionError(f"expected and found {wrong}\n{signals}\n{self.agent_pane.capture_text()}") from None

    def capture_screen(self) -> Screen:
        return msgspec.structs.replace(self.agent_pane.capture_screen(), at=time.time_ns())

    def press_until_answered(self, press: Callable[[Screen], KeyPress | None]) -> None:
        """Press the keys for the screen until it changes: a new dialog ignores keys."""
        wait_until(lambda: press(self.agent_pane.capture_screen()), timeout_s=STEP_TIMEOUT_S)
        wait_until(lambda: self._is_answered(press(self.agent_pane.capture_screen())), timeout_s=STEP_TIMEOUT_S)

    def press_once(self, press: Callable[[Screen], KeyPress | None]) -> None:
        """Press the keys once, after the dialog has been visible long enough to read them."""
        wait_until(lambda: press(self.agent_pane.capture_screen()), timeout_s=STEP_TIMEOUT_S)
        self.agent_pane.wait_until_still()
        wanted = press(self.agent_pane.capture_screen())
        assert wanted is not None
        self._press_keys(wanted)

    def _press_keys(self, wanted: KeyPress) -> None:
        for key in wanted.keys:
            self.agent_pane.press(key)
            time.sleep(wanted.pause_s)  # the pause that the key press requires

    def _is_answered(self, wanted: KeyPress | None) -> bool:
        if wanted is None:
            return True
        self._press_keys(wanted)
        before, patience = self.adapter.classify_screen(self.agent_pane.capture_screen()), iter(range(10))
        wait_until(
            lambda: (
                self.adapter.classify_screen(self.agent_pane.capture_screen()) != before or next(patience, None) is None
            )
        )
        return False

    def collect_records(self) -> None:
        """Collect and read the new records."""
        new = self._collect(self._collector)
        self._new_records += new
        self.play.read_records(new)

    def _write_scene(self, name: str, expected: SceneMeaning, shown: Screen) -> None:
        telling = [
            one for one in self._new_records if self.adapter.read_record(one) and len(one.text) < _MAX_RECORD_CHARS
        ]
        scene = Scene(
            agent=self.adapter.name,
            version=VERSIONS[self.adapter.name],
            run=self.run,
            number=self.number,
            name=name,
            runtime=self.play.runtime,
            records=tuple(_drop_spinner_titles(telling)),
            screen=shown,
            expected=expected,
        )
        write_scene(msgspec.json.decode(self._neutralize(msgspec.json.encode(scene).decode()), type=Scene))

    def _neutralize(self, text: str) -> str:
        """Replace the paths, ids and names of this machine."""
        place, process, tmux = self.agent_pane.place, self.process, self.agent_pane.tmux
        folder = str(place.folder)
        port = place.model.rpartition(":")[2]
        plain = {
            folder: _NEUTRAL_HOME,
            folder.lstrip("/"): _NEUTRAL_HOME.lstrip("/"),
            re.sub(r"[^a-zA-Z0-9]", "-", folder): _NEUTRAL_HOME.replace("/", "-"),
            str(NODE_MODULES): "/opt/agents",
            tmux.socket: "/tmp/tmux-1000/default",
            f"127.0.0.1:{port}": "127.0.0.1:8787",
            tmux.read_format(self.agent_pane.pane, ",#{pid},"): ",4000,",
        }
        for old, new in plain.items():
            text = text.replace(old, new)
        text = re.sub(r'(Ask anything…) \\"[^"]*\\"', r"\1", text)  # another hint at every start
        text = re.sub(rf"\b{process.pid}\b", "4242", text)
        text = re.sub(rf"\b{process.pid_started}\b", "77000", text)
        text = re.sub(r"linux:[0-9a-f]{32}:pid:\[\d+\]", "linux:0:pid:[1]", text)
        text = _UUID.sub(lambda found: self._replace_id(found[0], "00000000-0000-4000-8000-{:012d}"), text)
        return _ID.sub(lambda found: self._replace_id(found[0], found[1] + "_{:012d}"), text)

    def _replace_id(self, old: str, form: str) -> str:
        return self._neutral_ids.setdefault(old, form.format(len(self._neutral_ids) + 1))


def _drop_spinner_titles(records: list[SourceRecord]) -> list[SourceRecord]:
    """Keep one of the many titles that differ only in the spinner."""
    kept: list[SourceRecord] = []
    for record in records:
        titles = [_strip_spinner(one.text) for one in kept if one.source == "title"]
        if record.source != "title" or titles[-1:] != [_strip_spinner(record.text)]:
            kept.append(record)
    return kept


def _strip_spinner(title: str) -> str:
    return _TITLE_SPINNER.sub("~", title.rstrip())
