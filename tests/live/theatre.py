"""A theatre: understudies of an agent in panes of a real tmux, daemons that come and go, and a person who says yes."""

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

from termvisor.client.daemon_process import greet
from termvisor.settings import nonce
from termvisor.setup.shell_integration import snippet
from termvisor.testing.instance import Instance, instance
from termvisor.testing.tmux import PrivateTmux, private_tmux, short_folder
from tests.compiled import lend
from tests.live.looking import look
from tests.live.waiting import until

ROOT = Path(__file__).resolve().parents[2]
RC = """
HISTFILE= PROMPT_COMMAND= PS1='$ '
export HOME={folder}/home UNDERSTUDY={folder} UNDERSTUDY_SESSION={session} PYTHONPATH={site}
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
"""
AGAIN_AFTER = 2.0
"""Seconds after which a person says it again: the daemon may have died before it heard."""


class Role:
    """One understudy: the shell in which it lives, and all that ever reached it."""

    def __init__(self, folder: Path, number: int, name: str):
        self.name, self.session = name, f"00000000-0000-4000-8000-{number:012d}"
        self.folder = folder / f"{number}"
        self.mux_id, self.pane = "", 0
        for part in ("home", "work"):
            (self.folder / part).mkdir(parents=True)
        os.mkfifo(self.folder / "cues")
        self._cues = os.open(self.folder / "cues", os.O_RDWR)

    def cue(self, text: str) -> None:
        os.write(self._cues, f"{text}\n".encode())

    def started(self) -> list[list[str]]:
        """The words with which each understudy was started here."""
        return [words for _, words in _lines(self.folder / "started")]

    def pids(self) -> list[int]:
        return [pid for pid, _ in _lines(self.folder / "started")]

    def arrived(self) -> str:
        """Every key, in order, whichever of them got it."""
        return "".join(data for _, data in _lines(self.folder / "arrived"))


class Theatre:
    def __init__(self, folder: str, tmux: PrivateTmux, own: PrivateTmux, visor: Instance):
        self._folder, self.tmux, self._own, self.visor = Path(folder, "roles"), tmux, own, visor
        self.roles: list[Role] = []
        self.minded: dict[str, str] = {}
        """By pane the state in which an agent is soon told of, as stuck or unanswered."""
        lend(visor.places)
        nonce(visor.places.nonce_file)
        config = Path(visor.places.config_dir)
        config.mkdir(exist_ok=True)
        (config / "policy.toml").write_text(POLICY)
        site, programs = self._folder / "site", self._folder / "bin"
        site.mkdir(parents=True)
        programs.mkdir()
        shutil.copy(ROOT / "tests" / "live" / "understudy.py", site / "sitecustomize.py")
        (programs / "codex").symlink_to(os.path.realpath(sys.executable))
        self._site, self._programs = site, programs
        env = " ".join(shlex.quote(f"{n}={v}") for n, v in visor.env.items() if n.startswith("VISOR_"))
        words = f"cd {ROOT} && exec env {env} bash --noprofile --norc -i"
        self._person = own.start("person", words, width=120)
        self._said: dict[str, float] = {}

    def open(self, name: str) -> Role:
        """A shell in a pane; nobody plays there yet."""
        role = Role(self._folder, len(self.roles) + 1, name)
        rc = RC.format(folder=role.folder, session=role.session, site=self._site, bin=self._programs)
        start = role.folder / "rc"
        start.write_text(rc + snippet("bash", self.visor.places.nonce_file).decode())
        command = f"exec bash --noprofile --rcfile {start} -i"
        role.mux_id = self.tmux.start(f"{name}{len(self.roles)}", command, width=110, height=46)
        self.roles.append(role)
        return role

    @contextmanager
    def daemon(self, **plan: object) -> Iterator[subprocess.Popen[bytes]]:
        plan |= {"minds": self.minded, "memory": str(self._folder / "halted")}
        argv = [sys.executable, "-m", "tests.live.run_halting", json.dumps(plan)]
        with subprocess.Popen(argv, cwd=ROOT, env=self.visor.env) as process:
            try:
                until(lambda: process.poll() is not None or greet(self.visor.places), seconds=30)
                yield process
            finally:
                process.kill()

    def fill(self) -> None:
        """An understudy in every shell that is heard; done once each of them is known for the agent that it plays."""
        until(self._are_heard, seconds=40)
        self._type(lambda role: "")  # the first prompt came before anybody heard it
        until(lambda: self._are_heard("prompt"), seconds=40)
        self._type(lambda role: f"codex resume {role.session}")
        until(lambda: self._are_heard("alt_screen") and self._have_sessions(), seconds=40)

    def _type(self, words: Callable[[Role], str]) -> None:
        for role in self.roles:
            self.tmux.type(role.mux_id, words(role))

    def _are_heard(self, activity: str = "") -> bool:
        items = look(self.visor, "state")["items"]
        found = {item["identity"]["pane_id"]: item for item in items if item["heard_by"] == "pipe"}
        for role in self.roles:
            role.pane = found[role.mux_id]["identity"]["id"] if role.mux_id in found else 0
        kinds = {found[role.mux_id]["activity"]["kind"] if role.pane else "" for role in self.roles}
        return kinds == {activity} if activity else "" not in kinds

    def _have_sessions(self) -> bool:
        known = {pane for (pane,) in self.rows("SELECT pane FROM agent_session WHERE external_id != ''")}
        silent = [role for role in self.roles if role.pane not in known]
        for role in silent:
            role.cue("hello")
        return not silent

    def rows(self, question: str, *values: object) -> list[tuple]:
        """What the store holds, whether a daemon lives or not."""
        database = sqlite3.connect(f"file:{self.visor.places.database}?mode=ro", uri=True, timeout=10)
        try:
            return database.execute(question, values).fetchall()
        finally:
            database.close()

    def say_yes(self, silent: Collection[int] = ()) -> None:
        """To every question that a run has asked, but not to those about these panes."""
        asked = "SELECT id, asked ->> '$.pane', asked ->> '$.kind' FROM question WHERE state = 'open'"
        for number, pane, kind in self.rows(asked):
            if pane not in silent and kind in ("ask_person", "answer_dialog"):
                self.say(f"approve {number}")

    def go_on(self, panes: Collection[int]) -> None:
        """Runs in these panes that have paused need not wait."""
        for run, pane in self.rows("SELECT id, pane FROM run WHERE status = 'paused'"):
            if pane in panes:
                self.say(f"workflow resume {run}")

    def say(self, words: str) -> None:
        """A person says it at their own terminal, and after a while again."""
        if time.monotonic() - self._said.get(words, 0.0) > AGAIN_AFTER:
            self._said[words] = time.monotonic()
            self._own.type(self._person, f"{sys.executable} -m tests.live.saying {words}")

    def open_runs(self) -> list[tuple[int, str]]:
        return self.rows("SELECT id, workflow FROM run WHERE ended_at IS NULL")


@contextmanager
def theatre(**settings: str) -> Iterator[Theatre]:
    with (
        short_folder() as folder,
        private_tmux(folder) as tmux,
        private_tmux(folder, "p") as own,
        instance(folder, tmux.socket, **settings) as visor,
    ):
        yield Theatre(folder, tmux, own, visor)


def _lines(path: Path) -> Sequence[list]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
