"""A process on a terminal of its own, with the state file of a shell."""

import os
import pty
import signal
import termios
from pathlib import Path

from termvisor.system import procfs
from termvisor.system.retry import wait_until
from termvisor.system.shell_state import read_shell_state

NONCE = "0123456789abcdef" * 2


class TerminalProcess:
    """A process that is alone in the foreground of its own terminal, like a shell at its prompt."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            os.execvp("sleep", ["sleep", "1000"])
        assert wait_until(self._is_asleep, 10.0)
        self.set_canonical(False)

    def _is_asleep(self) -> bool:
        """Return True once the program is loaded: before, it still reads files."""
        process, current = procfs.read_process(self.pid), procfs.read_stat(self.pid)
        return process is not None and current is not None and (process.name, current.state) == ("sleep", "S")

    @property
    def file(self) -> Path:
        return self.folder / str(self.pid)

    @property
    def started(self) -> int:
        return procfs.read_start_time(self.pid)

    def set_canonical(self, is_on: bool) -> None:
        attributes = termios.tcgetattr(self._master)
        attributes[3] = attributes[3] | termios.ICANON if is_on else attributes[3] & ~termios.ICANON
        termios.tcsetattr(self._master, termios.TCSANOW, attributes)

    def write_record(self, rest: str = "prompt 3 chars=6 /home/me", nonce: str = NONCE, started: int = 0) -> None:
        self.file.unlink(missing_ok=True)
        self.file.touch(mode=0o600)
        self.file.write_bytes(os.fsencode(f"visor1 {nonce} {self.pid} {started or self.started} {rest}\n"))

    def read(self) -> tuple[str, int | None, str | None] | None:
        state = read_shell_state(str(self.folder), NONCE, self.pid)
        return None if state is None else (state.kind, state.last_exit, state.cwd)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._master)
