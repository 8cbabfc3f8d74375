"""Fake agents in panes of a real tmux, daemons that crash and restart, and a user who approves."""

import json
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from termvisor.client.daemon_process import fetch_hello
from termvisor.setup.shell_integration import build_snippet
from termvisor.system.shell_nonce import load_nonce
from termvisor.testing.private_tmux import PrivateTmux, make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import VisorInstance, run_instance
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot
from tests.pattern_cache import install_pattern_cache

ROOT = Path(__file__).resolve().parents[2]
SHELL_RC = """
HISTFILE= PROMPT_COMMAND= PS1='$ '
export HOME={folder}/home FAKE_CODEX_FOLDER={folder} FAKE_CODEX_SESSION={session} PYTHONPATH={site}
codex() {{ {bin}/codex "$@"; }}
cd {folder}/work
"""
POLICY = """
unproven_prompt = true
[rates]
per_minute = 100_000
[[rule]]
id = "tests"
when = { kind = ["send_text", "send_keys", "spawn", "notify", "run_workflow"] }
answer = "allow"
[commands]
unknown_effect = "allow"
"""
REPEAT_AFTER_S = 2.0
"""Seconds after which the user repeats a command: the daemon may have died before receiving it."""


class FakeAgentPane:
    """One fake agent: its shell, and all input that it received."""

    def __init__(self, folder: Path, number: int, name: str):
        self.name, self.session = name, f"00000000-0000-4000-8000-{number:012d}"
        self.folder = folder / f"{number}"
        self.mux_id, self.pane = "", 0
        for part in ("home", "work"):
            (self.folder / part).mkdir(parents=True)
        os.mkfifo(self.folder / "cues")
        self._cue_fd = os.open(self.folder / "cues", os.O_RDWR)

    def send_cue(self, text: str) -> None:
        os.write(self._cue_fd, f"{text}\n".encode())

    def list_starts(self) -> list[list[str]]:
        """Return the arguments of each start of the fake agent."""
        return [words for _, words in _read_json_lines(self.folder / "started")]

    def list_pids(self) -> list[int]:
        return [pid for pid, _ in _read_json_lines(self.folder / "started")]

    def read_input(self) -> str:
        """Return all keys in order, of all starts."""
        return "".join(data for _, data in _read_json_lines(self.folder / "arrived"))


class FakeAgentHost:
    def __init__(self, folder: str, tmux: PrivateTmux, own_tmux: PrivateTmux, visor: VisorInstance):
        self._folder, self.tmux, self._own_tmux, self.visor = Path(folder, "roles"), tmux, own_tmux, visor
        self.agent_panes: list[FakeAgentPane] = []
        self.failure_states: dict[str, str] = {}
        """By pane, the state in which an agent is soon reported as stuck or unanswered."""
        install_pattern_cache(visor.paths)
        load_nonce(visor.paths.nonce_file)
        config = Path(visor.paths.config_dir)
        config.mkdir(exist_ok=True)
        (config / "policy.toml").write_text(POLICY)
        site, programs = self._folder / "site", self._folder / "bin"
        site.mkdir(parents=True)
        programs.mkdir()
        shutil.copy(ROOT / "tests" / "live" / "fake_codex.py", site / "sitecustomize.py")
        (programs / "codex").symlink_to(os.path.realpath(sys.executable))
        self._site, self._programs = site, programs
        env = " ".join(shlex.quote(f"{n}={v}") for n, v in visor.env.items() if n.startswith("VISOR_"))
        words = f"cd {ROOT} && exec env {env} bash --noprofile --norc -i"
        self._user_pane = own_tmux.start_session("person", words, width=120)
        self._typed_at: dict[str, float] = {}

    def open_pane(self, name: str) -> FakeAgentPane:
        """Open a pane with a shell, without an agent."""
        agent_pane = FakeAgentPane(self._folder, len(self.agent_panes) + 1, name)
        rc = SHELL_RC.format(folder=agent_pane.folder, session=agent_pane.session, site=self._site, bin=self._programs)
        start = agent_pane.folder / "rc"
        start.write_text(rc + build_snippet("bash", self.visor.paths).decode())
        command = f"exec bash --noprofile --rcfile {start} -i"
        agent_pane.mux_id = self.tmux.start_session(f"{name}{len(self.agent_panes)}", command, width=110, height=46)
        self.agent_panes.append(agent_pane)
        return agent_pane

    @contextmanager
    def run_daemon(self, **plan: object) -> Iterator[subprocess.Popen[bytes]]:
        plan |= {"minds": self.failure_states, "memory": str(self._folder / "halted")}
        argv = [sys.executable, "-m", "tests.live.halting_daemon", json.dumps(plan)]
        with subprocess.Popen(argv, cwd=ROOT, env=self.visor.env) as process:
            try:
                wait_until(lambda: process.poll() is not None or fetch_hello(self.visor.paths), timeout_s=30)
                yield process
            finally:
                process.kill()

    def start_agents(self) -> None:
        """Start a fake agent in every captured shell and wait until each is identified."""
        wait_until(self._are_captured, timeout_s=40)
        wait_until(lambda: self._are_captured("prompt"), timeout_s=40)
        self._type_in_all(lambda agent_pane: f"codex resume {agent_pane.session}")
        wait_until(lambda: self._are_captured("alt_screen") and self._have_sessions(), timeout_s=40)

    def _type_in_all(self, build_line: Callable[[FakeAgentPane], str]) -> None:
        for agent_pane in self.agent_panes:
            self.tmux.type_line(agent_pane.mux_id, build_line(agent_pane))

    def _are_captured(self, activity: str = "") -> bool:
        items = call_robot(self.visor, "state")["items"]
        found = {item["identity"]["pane_id"]: item for item in items if item["heard_by"] == "pipe"}
        for agent_pane in self.agent_panes:
            agent_pane.pane = found[agent_pane.mux_id]["identity"]["id"] if agent_pane.mux_id in found else 0
        kinds = {
            found[agent_pane.mux_id]["activity"]["kind"] if agent_pane.pane else "" for agent_pane in self.agent_panes
        }
        return kinds == {activity} if activity else "" not in kinds

    def _have_sessions(self) -> bool:
        known = {pane for (pane,) in self.query_database("SELECT pane FROM agent_session WHERE external_id != ''")}
        unknown = [agent_pane for agent_pane in self.agent_panes if agent_pane.pane not in known]
        for agent_pane in unknown:
            agent_pane.send_cue("hello")
        return not unknown

    def query_database(self, sql: str, *values: object) -> list[tuple]:
        """Query the database; works without a running daemon."""
        database = sqlite3.connect(f"file:{self.visor.paths.database}?mode=ro", uri=True, timeout=10)
        try:
            return database.execute(sql, values).fetchall()
        finally:
            database.close()

    def approve_requests(self, skipped_panes: Collection[int] = ()) -> None:
        """Approve every request of a run, except those about these panes."""
        open_requests = "SELECT id, asked ->> '$.pane', asked ->> '$.kind' FROM question WHERE state = 'open'"
        for number, pane, kind in self.query_database(open_requests):
            if pane not in skipped_panes and kind in ("ask_person", "answer_dialog"):
                self.type_visor_command(f"approve {number}")

    def resume_paused_runs(self, panes: Collection[int]) -> None:
        """Resume the paused runs in these panes."""
        for run, pane in self.query_database("SELECT id, pane FROM run WHERE status = 'paused'"):
            if pane in panes:
                self.type_visor_command(f"workflow resume {run}")

    def type_visor_command(self, words: str) -> None:
        """Type a visor command at the user's terminal, at most every few seconds."""
        if time.monotonic() - self._typed_at.get(words, 0.0) > REPEAT_AFTER_S:
            self._typed_at[words] = time.monotonic()
            self._own_tmux.type_line(self._user_pane, f"{sys.executable} -m tests.live.visor_without_start {words}")

    def list_open_runs(self) -> list[tuple[int, str]]:
        return self.query_database("SELECT id, workflow FROM run WHERE ended_at IS NULL")


@contextmanager
def run_fake_agent_host(**settings: str) -> Iterator[FakeAgentHost]:
    with (
        make_short_folder() as folder,
        run_private_tmux(folder) as tmux,
        run_private_tmux(folder, "p") as own_tmux,
        run_instance(folder, tmux.socket, **settings) as visor,
    ):
        yield FakeAgentHost(folder, tmux, own_tmux, visor)


def _read_json_lines(path: Path) -> Sequence[list]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
