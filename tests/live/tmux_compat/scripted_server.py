"""A fresh tmux server that is driven by lines of text, and the outcome of each line as text.

A line is a tmux command, run from outside of the server, or one of these:

    @start WORDS           run `tmux WORDS` without waiting for its end
    @client NAME WORDS     run `tmux WORDS` in a terminal of its own; wait until it is attached
    @type NAME KEYS        type into that terminal; escapes as in Python
    @sees NAME TEXT        whether the terminal showed the text since it was typed into
    @exits NAME            the exit status of that client
    @inside TARGET WORDS   run `tmux WORDS` as from a shell in that pane
    @output TARGET TEXT    print the text in that pane
    @find TEXT             which panes show the text
    @until VALUE FORMAT    wait until the format has this value; its last value
    @hooks                 record every hook that fires from now on
    @fired                 the names of those that fired
    @exists FILE           wait until the file is in the server's folder
    @absent FILE           whether it is not there
    @gone                  wait until the server exited

In all lines, $FOLDER is the server's folder and <NAME> a client. What did not happen in time has the outcome TIMED_OUT.
"""

import codecs
import fcntl
import os
import pty
import re
import shlex
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

from tests.live.test_watching import has_exited

WAIT_S = 5.0
"""Longest wait for something that happens within milliseconds on a machine with nothing else to do."""
POLL_S = 0.02
TIMED_OUT = "waited in vain"
READING_HOOKS = frozenset(
    f"after-{command}" for command in ("capture-pane", "display-message", "list-panes", "pipe-pane", "show-options")
)
"""Hooks after commands with which a watcher reads; these fire for a watcher as for every other program."""
TERMINAL_SIZE = struct.pack("HHHH", 30, 100, 0, 0)
ENVIRONMENT = {
    "TERM": "xterm-256color",
    "SHELL": "/bin/sh",
    "LANG": "C.UTF-8",
    "PS1": "$ ",
    "HOME": os.environ.get("HOME", "/"),
}


def wait_for(check: Callable[[], object]) -> str:
    """Wait until the check is true; return TIMED_OUT if it was not in time."""
    deadline = time.monotonic() + WAIT_S
    while not check():
        if time.monotonic() > deadline:
            return TIMED_OUT
        time.sleep(POLL_S)
    return "in time"


class TerminalClient:
    """A tmux client in a pseudo-terminal; collects what it shows."""

    def __init__(self, argv: list[str], environment: dict[str, str]):
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, TERMINAL_SIZE)
        self.tty = os.ttyname(slave)
        self.shown = b""
        self.process = subprocess.Popen(
            argv, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True
        )
        os.close(slave)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        try:
            while data := os.read(self._master, 65536):
                self.shown += data
        except OSError:  # the other side is closed
            pass

    def type(self, keys: str) -> None:
        self.shown = b""
        os.write(self._master, codecs.decode(keys, "unicode_escape").encode("latin-1"))

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)


class ScriptedServer:
    """Runs lines on a tmux server with a socket of its own. ``close`` ends it with everything that it started."""

    def __init__(self, folder: str, socket: str, tmux: str = "tmux"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        Path(socket).parent.mkdir(mode=0o700, exist_ok=True)  # tmux refuses a folder that others can read
        self.folder, self.socket = folder, socket
        self._argv = [tmux, "-f", "/dev/null", "-S", socket]
        # The variable marks all processes as those of the test's folder. See `leftover_processes`.
        self._environment = {**ENVIRONMENT, "PATH": os.environ["PATH"], "PRIVATE_TMUX": socket}
        self._clients: dict[str, TerminalClient] = {}
        self._started: list[subprocess.Popen[bytes]] = []
        self.pid = 0

    def prepare(self, lines: tuple[str, ...]) -> None:
        """Run lines that must succeed. tmux commands in a row are one call, which saves most of the time."""
        for is_command, group in groupby(lines, lambda line: not line.startswith("@")):
            calls = list(group)
            outcomes = self.run_lines((" \\; ".join(calls),) if is_command else tuple(calls))
            failed = [one for one in outcomes if TIMED_OUT in one or (is_command and " -> 0" not in one)]
            assert not failed, failed

    def run_lines(self, lines: tuple[str, ...]) -> list[str]:
        return [f"{line} -> {self.run_line(line)}" for line in lines]

    def run_line(self, line: str) -> str:
        """Run one line and return its outcome, without what differs from server to server."""
        words = shlex.split(self._fill_in(line))
        if words[0].startswith("@"):
            outcome = str(getattr(self, f"_do_{words[0][1:]}")(*words[1:]))
        else:
            outcome = self._run_tmux(words)
        if not self.pid and words[0] == "new-session":
            self.pid = int(self.read_format("#{pid}"))
        return self._normalize(outcome)

    def _fill_in(self, line: str) -> str:
        for name, client in self._clients.items():
            line = line.replace(f"<{name}>", client.tty)
        return line.replace("$FOLDER", self.folder)

    def read_format(self, form: str) -> str:
        return self._call("display-message", "-p", form).stdout.strip()

    def is_alive(self) -> bool:
        return not has_exited(self.pid)

    def close(self) -> None:
        for client in self._clients.values():
            client.close()
        self._call("kill-server")
        for process in self._started:
            process.kill()
            process.wait()

    def _call(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {**self._environment, **variables}
        argv = [*self._argv, *words]
        # A command that waits for a person, such as confirm-before, must not wait for ever.
        try:
            return subprocess.run(
                argv,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=WAIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(argv, -1, "", TIMED_OUT)

    def _run_tmux(self, words: list[str] | tuple[str, ...], **variables: str) -> str:
        done = self._call(*words, **variables)
        return f"{done.returncode} {done.stdout}{done.stderr}"

    def _normalize(self, text: str) -> str:
        for name, client in self._clients.items():
            for one in (client.tty, f"client-{client.process.pid}"):
                text = re.sub(rf"{re.escape(one)}\b", f"<{name}>", text)
        return text.replace(self.socket, "<socket>").replace(self.folder, "<folder>").rstrip("\n")

    def _do_start(self, *words: str) -> str:
        null = subprocess.DEVNULL
        argv = [*self._argv, *words]
        self._started.append(subprocess.Popen(argv, env=self._environment, stdin=null, stdout=null, stderr=null))
        return "started"

    def _do_client(self, name: str, *words: str) -> str:
        argv = [self._argv[0], "-f", "/dev/null", "-S", self.socket, *words]
        client = self._clients[name] = TerminalClient(argv, self._environment)
        pid = str(client.process.pid)
        is_attached = lambda: pid in self._call("list-clients", "-F", "#{client_pid}").stdout.split()  # noqa: E731
        return wait_for(lambda: client.process.poll() is not None or is_attached())

    def _do_type(self, name: str, keys: str) -> str:
        self._clients[name].type(keys)
        return "typed"

    def _do_sees(self, name: str, text: str) -> str:
        wanted = codecs.decode(text, "unicode_escape").encode("latin-1")
        return wait_for(lambda: wanted in self._clients[name].shown)

    def _do_exits(self, name: str) -> str:
        process = self._clients[name].process
        return f"{wait_for(lambda: process.poll() is not None)} with status {process.returncode}"

    def _do_inside(self, target: str, *words: str) -> str:
        found = self._call("display-message", "-p", "-t", target, "#{pid},#{session_id} #{pane_id}").stdout.split()
        number, pane = found
        return self._run_tmux(words, TMUX=f"{self.socket},{number.replace('$', '')}", TMUX_PANE=pane)

    def _do_output(self, target: str, text: str) -> str:
        tty = self._call("display-message", "-p", "-t", target, "#{pane_tty}").stdout.strip()
        Path(tty).write_bytes(codecs.decode(text, "unicode_escape").encode("latin-1"))
        return "printed"

    def _do_find(self, text: str) -> str:
        found: list[str] = []

        def search() -> list[str]:
            panes = self._call("list-panes", "-a", "-F", "#{pane_id} #{session_name}:#{window_name}.#{pane_index}")
            for line in panes.stdout.splitlines():
                pane, place = line.split(" ", 1)
                if text in self._call("capture-pane", "-p", "-J", "-t", pane).stdout:
                    found.append(place)
            return found

        return f"{wait_for(search)} in {sorted(set(found))}"

    def _do_until(self, value: str, form: str, *options: str) -> str:
        read = lambda: self._call("display-message", "-p", *options, form).stdout.strip()  # noqa: E731
        return f"{wait_for(lambda: read() == value)} {read()}"

    def _do_hooks(self) -> str:
        for scope in ("-g", "-gw"):
            names = [line.split("[")[0].split(" ")[0] for line in self._call("show-hooks", scope).stdout.splitlines()]
            for name in sorted({*names} - READING_HOOKS):
                self._call("set-hook", scope, f"{name}[50]", f"set-option -ga @fired ' {name}'")
        self._call("set-option", "-gu", "@fired")
        return "set"

    def _do_fired(self) -> list[str]:
        # As a set: how often a hook after a listing fires depends on how often this class had to wait.
        return sorted({*self._call("show-options", "-gv", "@fired").stdout.split()})

    def _do_exists(self, file: str) -> str:
        return wait_for(Path(self.folder, file).exists)

    def _do_absent(self, file: str) -> bool:
        return not Path(self.folder, file).exists()

    def _do_gone(self) -> str:
        return wait_for(lambda: not self.is_alive())
