"""One terminal of the host: its program, guarded writes, size, signals and the program's end.

The guard and the write are one step: nothing else runs in this process between them. The master is never read here.
"""

from __future__ import annotations

import fcntl
import posix
import sys
import termios
from time import time_ns  # noqa: TID251 - the host cannot import termvisor.clock

from termvisor.pty_host.child import HeldChild, set_terminal_size
from termvisor.pty_host.result_file import create_result_file, delete_result_file, overwrite_result_file
from termvisor.pty_host.spec import ProgramSpec, check_size
from termvisor.pty_host.startup import Fields
from termvisor.recorder.segment import build_raw_path, get_file_size, list_segment_starts

HELD, RUNNING, EXITED = "held", "running", "exited"
_BOOT_ID_PATH = "/proc/sys/kernel/random/boot_id"
_START_FIELD, _SESSION_FIELD = 19, 3


class GuardRefusal(Exception):
    """A condition of a guard that failed, and what was found instead."""

    def __init__(self, what: str, actual: object):
        super().__init__(what, actual)
        self.what, self.actual = what, actual


class HostedTerminal:
    """A master descriptor and the program that was started in it. ``gate`` is -1 once the program may run."""

    def __init__(self, number: int, row: Fields, result_path: str):
        self.number, self.result_path = number, result_path
        self.pid, self.started_ticks = int(row["pid"]), int(row["start"])
        self.master, self.gate = int(row["master"]), int(row.get("gate", "-1"))
        self.error_fd = int(row.get("error", "-1"))
        self.tty, self.tag = row["tty"], row.get("tag", "")
        self.rows, self.columns = int(row["rows"]), int(row["columns"])
        self.state = row.get("state", HELD)
        self.stream = row.get("stream", "")
        """The pane and epoch under which the recorder holds the master, as `7/12`; empty before that."""
        self.created_at, self.typed_at = int(row.get("created", "0")), int(row.get("typed", "0"))
        self.size_rule = row.get("rule", "")
        self.viewer_count = 0
        self.exit: Fields = {name: row[name] for name in _EXIT_FIELDS if name in row}

    @classmethod
    def create(cls, number: int, child: HeldChild, spec: ProgramSpec, result_dir: str) -> HostedTerminal:
        """Return the terminal of a held child. Raises OSError if the result file cannot be created."""
        start = read_start_ticks(child.pid)
        row = {
            "pid": str(child.pid),
            "start": str(start),
            "master": str(child.master),
            "gate": str(child.gate),
            "error": str(child.error_fd),
            "tty": child.tty,
            "tag": spec.tag.hex(),
            "rows": str(spec.rows),
            "columns": str(spec.columns),
            "created": str(time_ns()),
        }
        terminal = cls(number, row, f"{result_dir}/{child.pid}.{start}")
        create_result_file(terminal.result_path, terminal.format_result())
        return terminal

    def format_row(self) -> Fields:
        """Return the facts about the terminal that the daemon gets."""
        row = {"pid": str(self.pid), "start": str(self.started_ticks), "state": self.state, "tty": self.tty}
        row |= {"rows": str(self.rows), "columns": str(self.columns), "created": str(self.created_at)}
        row |= {"typed": str(self.typed_at), "viewers": str(self.viewer_count)}
        row |= {"tag": self.tag, "stream": self.stream}
        return row | self.exit

    def format_handover(self) -> Fields:
        own = {"number": str(self.number), "master": str(self.master), "gate": str(self.gate)}
        return self.format_row() | own | {"error": str(self.error_fd), "rule": self.size_rule}

    def format_result(self) -> Fields:
        row = {"state": self.state, "pid": str(self.pid), "start": str(self.started_ticks), "boot": _read_boot_id()}
        return row | {"created": str(self.created_at)} | self.exit

    def open_gate(self) -> None:
        """Let the program run."""
        if self.gate >= 0:
            try:  # noqa: SIM105 - importing contextlib would cost this process half a megabyte
                posix.write(self.gate, b"g")
            except OSError:
                pass  # the child was killed while it waited
            posix.close(self.gate)
            self.gate = -1

    def note_exit(self, status: int, usage: tuple[float, float, int]) -> None:
        """Keep the wait status and resource usage (user and system seconds, maximum RSS in KB)."""
        code = posix.WEXITSTATUS(status) if posix.WIFEXITED(status) else -1
        number = posix.WTERMSIG(status) if posix.WIFSIGNALED(status) else 0
        user, system, rss = usage
        self.state = EXITED
        self.exit |= {"code": str(code), "signal": str(number), "ended": str(time_ns())}
        self.exit |= {"user_us": str(int(user * 1e6)), "system_us": str(int(system * 1e6)), "rss_kb": str(rss)}
        overwrite_result_file(self.result_path, self.format_result())

    def note_exec(self, errno: int) -> None:
        """Note that the program runs, or why it could not be executed (``errno`` is not 0)."""
        self.error_fd = -1
        if errno:
            self.exit["errno"] = str(errno)
        if self.state == HELD and not errno:
            self.state = RUNNING
        overwrite_result_file(self.result_path, self.format_result())

    def write(self, guard: Fields, data: bytes, raw_dir: str) -> int:
        """Write what the terminal takes now, if the guard holds; return the number of bytes. Raises GuardRefusal."""
        self.check_guard(guard, raw_dir)
        return self.write_unguarded(data)

    def write_unguarded(self, data: bytes) -> int:
        try:
            return posix.write(self.master, data) if data else 0
        except BlockingIOError:
            return 0

    def check_guard(self, guard: Fields, raw_dir: str) -> None:
        """Raise GuardRefusal for the first condition that fails; ValueError for a condition that is unknown."""
        for what, expected in guard.items():
            actual = self._read_guarded_value(what, raw_dir)
            if str(actual) != expected:
                raise GuardRefusal(what, actual)

    def read_facts(self) -> Fields:
        """Return the foreground group, the input modes, and the bytes that the recorder has not read yet."""
        canonical, echo = self._read_modes()
        row = {"group": str(self.read_foreground_group()), "canonical": str(canonical), "echo": str(echo)}
        return row | {"output": str(self._count_unread_output())}

    def read_foreground_group(self) -> int:
        try:
            return posix.tcgetpgrp(self.master)
        except OSError:
            # No process has this terminal as its controlling one any more.
            return 0

    def resize(self, rows: int, columns: int, width: int = 0, height: int = 0) -> None:
        set_terminal_size(self.master, *check_size(rows, columns, width, height))
        self.rows, self.columns = rows, columns

    def send_signal(self, number: int, whom: str) -> bool:
        """Signal the foreground group, the program or all processes of its session; return False if there is none."""
        if whom == "foreground":
            group = self.read_foreground_group()
            # 0 and 1 would address this host's own group or every process.
            return group > 1 and _kill(-group, number)
        if whom == "program":
            return self.state != EXITED and _kill(self.pid, number)
        # A list: every process gets the signal.
        return True in [_kill(pid, number) for pid in self.list_session()]

    def list_session(self) -> list[int]:
        """Return the processes of the program's session, also those that outlived it."""
        members = [int(name) for name in posix.listdir("/proc") if name.isdigit() and self._is_member(name)]
        # After its end was noticed, a living leader can only be a new process with the same pid and session id.
        return [] if self.state == EXITED and self.pid in members else members

    def close(self) -> None:
        """Close the descriptors and delete the result file."""
        for fd in (self.master, self.gate, self.error_fd):
            if fd >= 0:
                posix.close(fd)
        self.master = self.gate = self.error_fd = -1
        delete_result_file(self.result_path)

    def _read_guarded_value(self, what: str, raw_dir: str) -> object:
        if what == "pid":
            return self.pid if self.state != EXITED else 0
        if what == "state":
            return self.state
        if what == "group":
            return self.read_foreground_group()
        if what in ("canonical", "echo"):
            return self._read_modes()[what == "echo"]
        if what == "output":
            return self._count_unread_output()
        if what == "log":
            return measure_log(f"{raw_dir}/{self.stream}") if self.stream else -1
        if what == "typed":
            return self.typed_at
        raise ValueError(what)

    def _read_modes(self) -> tuple[int, int]:
        flags = termios.tcgetattr(self.master)[3]
        return int(bool(flags & termios.ICANON)), int(bool(flags & termios.ECHO))

    def _count_unread_output(self) -> int:
        room = fcntl.ioctl(self.master, termios.FIONREAD, bytes(4))
        return int.from_bytes(room, sys.byteorder)

    def _is_member(self, name: str) -> bool:
        fields = _read_stat_fields(name)
        return len(fields) > _SESSION_FIELD and int(fields[_SESSION_FIELD]) == self.pid


_EXIT_FIELDS = ("code", "signal", "errno", "ended", "user_us", "system_us", "rss_kb")


def measure_log(folder: str) -> int:
    """Return the end offset of a stream's raw log."""
    starts = list_segment_starts(folder)
    return starts[-1] + get_file_size(build_raw_path(folder, starts[-1])) if starts else 0


def read_start_ticks(pid: int) -> int:
    """Return the start time of a process in ticks since boot; 0 if it is unknown."""
    fields = _read_stat_fields(str(pid))
    return int(fields[_START_FIELD]) if len(fields) > _START_FIELD else 0


def _kill(pid: int, number: int) -> bool:
    try:
        posix.kill(pid, number)
    except OSError:
        # It has exited, or changed its user.
        return False
    return True


def _read_stat_fields(name: str) -> list[bytes]:
    return _read_small_file(f"/proc/{name}/stat").rpartition(b")")[2].split()


def _read_boot_id() -> str:
    return _read_small_file(_BOOT_ID_PATH).decode("ascii", "replace").strip()


def _read_small_file(path: str) -> bytes:
    try:
        fd = posix.open(path, posix.O_RDONLY)
    except OSError:
        return b""
    try:
        return posix.read(fd, 4096)
    except OSError:
        # The process exited in between.
        return b""
    finally:
        posix.close(fd)
