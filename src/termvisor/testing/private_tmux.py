"""A real tmux server on a private socket, always reaped with all that was started in it. For tests."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from termvisor.settings import get_environment
from termvisor.system.subprocesses import run_and_capture
from termvisor.testing.leftover_processes import kill_processes_of
from termvisor.testing.process_reaper import register_folder


class PrivateTmux:
    """Commands go to this server only. The user's own configuration is not read."""

    def __init__(self, socket: str):
        self.socket = socket
        self._session_numbers = count(1)

    def __call__(self, *words: str) -> str:
        """Run one tmux command; its output without the last newline."""
        marked = {
            **get_environment(),
            "PRIVATE_TMUX": self.socket,
        }  # by which the server is found when all else is gone
        status, out, errors = run_and_capture(["tmux", "-f", "/dev/null", "-S", self.socket, *words], env=marked)
        if status != 0:
            raise AssertionError(f"tmux {' '.join(words)}: {errors.decode(errors='replace')}")
        return out.decode("utf-8", "replace").rstrip("\n")

    def start_session(self, session: str = "", command: str = "sh", *, width: int = 100, height: int = 30) -> str:
        """A session with one pane; the pane's id. Without a name it is `work`, the next one `work2`, and so on."""
        size = ("-x", str(width), "-y", str(height))
        name = session or self._next_name()
        return self("new-session", "-d", "-P", "-F", "#{pane_id}", "-s", name, *size, command)

    def _next_name(self) -> str:
        number = next(self._session_numbers)
        return "work" if number == 1 else f"work{number}"

    def open_window(self, session: str, command: str) -> str:
        return self("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", f"={session}:", command)

    def type_line(self, pane: str, text: str) -> None:
        """What a person at that pane would type, with Enter."""
        self("send-keys", "-t", pane, "-l", "--", text)
        self("send-keys", "-t", pane, "Enter")

    def read_format(self, pane: str, format_string: str) -> str:
        return self("display-message", "-p", "-t", pane, format_string)

    @property
    def is_running(self) -> bool:
        return run_and_capture(["tmux", "-N", "-S", self.socket, "has-session"])[0] == 0

    def kill_server(self) -> None:
        run_and_capture(["tmux", "-N", "-S", self.socket, "kill-server"])


@contextmanager
def make_short_folder() -> Iterator[str]:
    """A private folder whose path leaves room for socket names. Whatever still runs for it in the end is ended."""
    folder = os.path.realpath(tempfile.mkdtemp(prefix="tv-", dir="/tmp"))
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
