"""Replay a recorded run in a pane, so that a daemon observes the same as with the real agent.

The pane runs `cat` under the agent's program name, which copies what is written to its FIFO: screens, titles, marks.
Files, logs and hook lines are written to the agent's paths, with the current pid, folder and time instead of the
recorded ones. Records of the agent's server are left out.
"""

import os
import re
import shlex
import shutil
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.claude_code.adapter import encode_project_folder
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.terminal.screen import Screen
from termvisor.system.procfs import read_process
from termvisor.testing.private_tmux import PrivateTmux
from tests.recordings.scene import Scene

PROGRAM_NAMES = {"claude_code": "claude"}
"""Program names that differ from the agent name."""
WIDTH, HEIGHT = 110, 46
_MILLISECOND_TIMESTAMP = re.compile(r"\b1[6-9]\d{11}\b")
_HOOK_TIME = re.compile(r'("at":)\d{13}\b')
_ISO_TIMESTAMP = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z")
_TMUX_VARIABLE = re.compile(r"/tmp/tmux-1000/default,\d+,\d+")
_SESSION_ID = re.compile(r"\b00000000(-0000-4000-8000-\d{12})\b")
_PANE_ID = re.compile(r'"%\d+"')
TERMINAL_SEQUENCES = {
    "title": "\x1b]2;{}\x07",
    "osc": "\x1b]7501;{}\x1b\\",
    "notification": "\x1b]777;notify;Gemini CLI;{}\x07",
}
"""Escape sequences that produce the records of these sources."""


class RecordedAgent:
    """One replayed agent; ``number`` is part of its session ids."""

    def __init__(self, folder: str, number: int, agent: str):
        self.agent, self._number = agent, number
        self.spool_dir = ""
        """Folder of the hook spool."""
        self._folder = Path(folder, f"actor{number}")
        self._fifo = self._folder / "fifo"
        self.cwd.mkdir(parents=True)
        os.mkfifo(self._fifo)
        self._fifo_descriptor = self._pid = self._started = 0
        self._pane = self._tmux_variable = ""

    @property
    def home(self) -> Path:
        return self._folder / "home"

    @property
    def cwd(self) -> Path:
        return self._folder / "work"

    @property
    def mux_id(self) -> str:
        return self._pane

    @property
    def pid(self) -> int:
        return self._pid

    def start(self, open_pane: Callable[[str], str], tmux: PrivateTmux) -> None:
        """Start the program; ``open_pane`` runs a command in a new pane and returns its id."""
        program = self._folder / "bin" / PROGRAM_NAMES.get(self.agent, self.agent)
        program.parent.mkdir()
        program.symlink_to(shutil.which("cat") or "/bin/cat")
        words = shlex.join(["env", f"HOME={self.home}", str(program), str(self._fifo)])
        self._pane = open_pane(f"cd {shlex.quote(str(self.cwd))} && stty -echo && exec {words}")
        pid, server = tmux.read_format(self._pane, "#{pane_pid} #{pid}").split()
        self._tmux_variable = f"{tmux.socket},{server},0"
        self._fifo_descriptor = os.open(self._fifo, os.O_WRONLY)
        self._pid, self._started = int(pid), read_process(int(pid)).started

    def stop(self) -> None:
        """Let the program exit."""
        os.close(self._fifo_descriptor)

    def start_new_sessions(self) -> None:
        """Use other session ids for the scenes that follow."""
        self._number += 1 << 12

    def play_scene(self, scene: Scene) -> None:
        """Write all records of a scene, then show its screen."""
        for record in scene.records:
            self.write_record(record, scene.runtime)
        self.show_screen(scene.screen)

    def write_record(self, record: SourceRecord, recorded_process: AgentProcess) -> None:
        if record.source in TERMINAL_SEQUENCES:
            self.write_terminal(TERMINAL_SEQUENCES[record.source].format(record.text.rstrip()))
        elif record.source == "hook":
            self._append_line(
                Path(self.spool_dir, "hooks.jsonl"),
                self._replace_recorded_values(record.text, record, recorded_process),
            )
        elif record.path:
            self._write_file(record, recorded_process)

    def show_screen(self, screen: Screen) -> None:
        """Draw a screen as one synchronized update."""
        rows = "\r\n".join(row[: screen.width] for row in screen.rows[:HEIGHT])
        buffer = "\x1b[?1049h" if screen.alternate else "\x1b[?1049l"
        self.write_terminal(
            f"{buffer}\x1b[?2026h\x1b[H\x1b[2J{rows}\x1b[{screen.cursor_y + 1};{screen.cursor_x + 1}H\x1b[?2026l"
        )

    def write_terminal(self, text: str) -> None:
        os.write(self._fifo_descriptor, text.encode())

    def _write_file(self, record: SourceRecord, recorded_process: AgentProcess) -> None:
        path = Path(self._replace_recorded_values(record.path, record, recorded_process))
        path.parent.mkdir(parents=True, exist_ok=True)
        text = self._replace_recorded_values(record.text, record, recorded_process)
        if record.source == "session_file":
            (path.parent / f"inuse.{self._pid}.lock").touch()
        if record.source != "registry":
            self._append_line(path, text)
        elif text:
            replace_file(path, text)
        else:
            path.unlink(missing_ok=True)

    def _append_line(self, path: Path, line: str) -> None:
        with path.open("a") as file:
            file.write(f"{line}\n")

    def _replace_recorded_values(self, text: str, record: SourceRecord, recorded_process: AgentProcess) -> str:
        """Replace the recorded pid, folders, session ids and times by the current ones."""
        later = time.time_ns() - record.at
        folder = str(
            Path(recorded_process.cwd).parent if recorded_process.cwd.endswith("/work") else recorded_process.cwd
        )
        for old, new in (
            (encode_project_folder(recorded_process.cwd), encode_project_folder(str(self.cwd))),
            (recorded_process.cwd, str(self.cwd)),
            (folder, str(self._folder)),
            ("/home/dev/home", str(self.home)),
        ):
            text = text.replace(old, new)
        text = re.sub(rf"\b{recorded_process.pid}\b", str(self._pid), text)
        text = re.sub(rf"\b{recorded_process.pid_started}\b", str(self._started), text)
        text = _SESSION_ID.sub(
            rf"{self._number:08x}\1", _TMUX_VARIABLE.sub(self._tmux_variable, _PANE_ID.sub(f'"{self._pane}"', text))
        )
        text = _MILLISECOND_TIMESTAMP.sub(lambda found: str(int(found[0]) + later // 10**6), text)
        if record.source == "hook":
            # Hook lines were collected at different delays. Replayed at once they would be out of order, and dropped.
            text = _HOOK_TIME.sub(rf"\g<1>{time.time_ns() // 10**6}", text, count=1)
        return _ISO_TIMESTAMP.sub(lambda found: _shift_timestamp(found[0], later), text)


def replace_file(path: Path, text: str) -> None:
    """Replace a file atomically, as agents do."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)


def _shift_timestamp(text: str, nanoseconds: int) -> str:
    at = datetime.fromisoformat(text).timestamp() + nanoseconds / 1e9
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
