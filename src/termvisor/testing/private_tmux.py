"""A real tmux server on a private socket for tests. It is always killed, with all processes started in it."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from termvisor.settings import get_environment
from termvisor.system.subprocesses import run_and_capture
from termvisor.testing.leftover_processes import kill_processes_of, register_folder


class PrivateTmux:
    """Runs tmux commands on a private server, without the user's configuration."""

    def __init__(self, socket: str):
        self.socket = socket
        self._session_numbers = count(1)

    def __call__(self, *words: str) -> str:
        """Run a tmux command and return its output without the last newline."""
        # The variable marks the server as a process of the test's folder. See `leftover_processes`.
        environment = {**get_environment(), "PRIVATE_TMUX": self.socket}
        # Ignore the user's configuration, which may change shells, prefixes or hooks.
        status, out, errors = run_and_capture(["tmux", "-f", "/dev/null", "-S", self.socket, *words], env=environment)
        if status != 0:
            raise AssertionError(f"tmux {' '.join(words)}: {errors.decode(errors='replace')}")
        return out.decode("utf-8", "replace").rstrip("\n")

    def start_session(self, session: str = "", command: str = "sh", *, width: int = 100, height: int = 30) -> str:
        """Start a session with one pane and return the pane id. Default session names are `work`, `work2`, …"""
        size = ("-x", str(width), "-y", str(height))
        name = session or self._next_name()
        return self("new-session", "-d", "-P", "-F", "#{pane_id}", "-s", name, *size, command)

    def _next_name(self) -> str:
        number = next(self._session_numbers)
        return "work" if number == 1 else f"work{number}"

    def open_window(self, session: str, command: str) -> str:
        # `=` matches the whole name; tmux would otherwise accept a prefix of it.
        return self("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", f"={session}:", command)

    def type_line(self, pane: str, text: str) -> None:
        """Type a text and Enter into a pane."""
        # Sent literally and after `--`, because the text may be a key name or start with a dash.
        self("send-keys", "-t", pane, "-l", "--", text)
        self("send-keys", "-t", pane, "Enter")

    def read_format(self, pane: str, format_string: str) -> str:
        return self("display-message", "-p", "-t", pane, format_string)

    @property
    def is_running(self) -> bool:
        # -N: a query must not start a server.
        return run_and_capture(["tmux", "-N", "-S", self.socket, "has-session"])[0] == 0

    def kill_server(self) -> None:
        run_and_capture(["tmux", "-N", "-S", self.socket, "kill-server"])


@contextmanager
def make_short_folder() -> Iterator[str]:
    """Create a temporary folder with a path short enough for Unix sockets; kill its processes at the end."""
    # A Unix socket path has at most 107 bytes, and pytest's folders are often longer.
    folder = os.path.realpath(tempfile.mkdtemp(prefix="tv-", dir="/tmp"))
    # Register first, because the test process may be killed before it reaches the clean-up below.
    register_folder(folder)
    try:
        yield folder
    finally:
        kill_processes_of(folder)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def run_private_tmux(folder: str, name: str = "t") -> Iterator[PrivateTmux]:
    server = PrivateTmux(f"{folder}/{name}")
    try:
        yield server
    finally:
        server.kill_server()
