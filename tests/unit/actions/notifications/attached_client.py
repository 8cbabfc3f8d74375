"""A tmux client on a pty, and what was written to its terminal."""

import os
import pty
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from termvisor.testing.private_tmux import PrivateTmux
from tests.unit.wait_until import wait_until


class AttachedClient:
    def __init__(self, master: int, tty: str):
        self._master, self.tty = master, tty
        os.set_blocking(master, False)
        self.received = b""

    def press(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def read_output(self) -> bytes:
        """Return all output that the terminal has received."""
        try:
            while data := os.read(self._master, 65536):
                self.received += data
        except (BlockingIOError, OSError):
            pass
        return self.received

    async def wait_for_output(self, data: bytes) -> None:
        await wait_until(lambda: data in self.read_output())


@contextmanager
def attach_client(tmux: PrivateTmux, session: str, *, lang: str = "C.UTF-8") -> Iterator[AttachedClient]:
    """Attach a tmux client for the time of the context."""
    master, slave = pty.openpty()
    env = {"TERM": "xterm", "LC_ALL": lang, "PATH": os.environ["PATH"]}
    argv = ["tmux", "-S", tmux.socket, "attach", "-t", f"={session}"]
    client = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True)
    person = AttachedClient(master, os.ttyname(slave))
    try:
        while person.tty not in tmux("list-clients", "-F", "#{client_tty}"):
            assert client.poll() is None, "the client could not attach"
        yield person
    finally:
        client.terminate()
        client.wait()
        os.close(slave)
        os.close(master)
