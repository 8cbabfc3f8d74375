"""Run one job as the first process of its terminal: wait for the go-ahead, run the command, record how it ended.

Started as ``python -ISEB wrapper.py <job folder>``, without the package, so it imports only modules that cost nothing
to load. It prints nothing before the command and one end mark after it.

Invariant: the result file, which exists in full size before the command starts, is overwritten in place, so the answer
survives a full disk and the death of the daemon, the multiplexer and the terminal. Only ``kill -9`` of this process
leaves it at ``running``, and then its process id and start time tell that it is gone.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import posix
import select
import sys
import termios
import time
from _blake2 import blake2s

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from resource import struct_rusage

RESULT_BYTES = 512
"""Size of the result file: one block that is allocated before anything starts."""
BEGIN, ACKNOWLEDGE = b"b", b"a"
"""What the daemon writes to the FIFO: start the command; its end was seen in the raw log."""
SPEC_FILE, RESULT_FILE, GO_FILE = "spec", "result", "go"
MARK_PREFIX = b"\x1b]7770;job;end;"
MARK_END = b"\x1b\\"
_BEGIN_TIMEOUT_S = 30.0
_MAC_BYTES = 8
_NOT_FOUND_STATUS, _NOT_EXECUTABLE_STATUS = 127, 126
_FORWARDED = (_signal.SIGHUP, _signal.SIGTERM, _signal.SIGCONT, _signal.SIGUSR1, _signal.SIGUSR2)
"""On a hang-up the kernel signals only the session leader, which is this process; the command must get it too."""
_RESET = (_signal.SIGPIPE, _signal.SIGXFSZ)
"""Python ignores these, and a program inherits what is ignored."""
_IGNORED = (_signal.SIGINT, _signal.SIGQUIT, _signal.SIGTSTP, _signal.SIGTTOU, _signal.SIGTTIN)


def compute_mac(key: bytes, words: bytes) -> str:
    """Return the code that proves who wrote these words. The key is in the removed spec file only."""
    return blake2s(words, key=key[:32], digest_size=_MAC_BYTES).hexdigest()


def format_result(key: bytes, fields: Mapping[str, object]) -> bytes:
    """Return the content of the result file, always in its full size."""
    words = " ".join(f"{name}={value}" for name, value in fields.items()).encode()
    return (compute_mac(key, words).encode() + b" " + words).ljust(RESULT_BYTES - 1)[: RESULT_BYTES - 1] + b"\n"


def format_end_mark(key: bytes, job: str, code: int, number: int) -> bytes:
    """Return the escape sequence that ends the output of a job. Terminals ignore it."""
    words = f"{job};{code};{number}".encode()
    return MARK_PREFIX + words + b";" + compute_mac(key, b"end " + words).encode() + MARK_END


class Spec:
    """The command, read from a file that is removed at once, because its environment may hold secrets."""

    def __init__(self, data: bytes):
        job, key, cwd, flags, linger, count, *words = data.split(b"\0")
        self.job, self.key, self.cwd = job.decode(), bytes.fromhex(key.decode()), cwd
        self.is_interactive, self.linger = flags == b"i", float(linger)
        self.argv = words[: int(count)]
        variables = words[int(count) : -1]
        self.env = dict(pair.split(b"=", 1) for pair in variables)


def encode_spec(
    job: str,
    key: bytes,
    *,
    argv: list[bytes],
    cwd: bytes,
    env: Mapping[bytes, bytes],
    is_interactive: bool,
    linger: float,
) -> bytes:
    """Return the content of a spec file. No field may contain a NUL."""
    head = [job.encode(), key.hex().encode(), cwd, b"i" if is_interactive else b"-", f"{linger:g}".encode()]
    return b"\0".join([*head, str(len(argv)).encode(), *argv, *(b"=".join(pair) for pair in env.items()), b""])


class JobProcess:
    """One run of a command; ``fields`` is what the result file says."""

    def __init__(self, folder: str):
        self._folder = folder
        spec_path = f"{folder}/{SPEC_FILE}"
        descriptor = posix.open(spec_path, posix.O_RDONLY | posix.O_CLOEXEC)
        parts = []
        while part := posix.read(descriptor, 1 << 20):
            parts.append(part)
        posix.close(descriptor)
        posix.unlink(spec_path)
        self.spec = Spec(b"".join(parts))
        # For reading and writing: opening neither blocks nor fails while the daemon does not hold its end.
        self._go = posix.open(f"{folder}/{GO_FILE}", posix.O_RDWR | posix.O_NONBLOCK | posix.O_CLOEXEC)
        self._result = posix.open(f"{folder}/{RESULT_FILE}", posix.O_RDWR | posix.O_CLOEXEC)
        self._child = 0
        self.fields: dict[str, object] = {"state": "ready", "pid": posix.getpid(), "boot": _read_boot_id()}

    def run(self) -> None:
        self._save()
        for number in _IGNORED:
            _signal.signal(number, _signal.SIG_IGN)
        if not self._wait_for(BEGIN, _BEGIN_TIMEOUT_S):
            self._save(state="never_told")
            return
        for number in _FORWARDED:
            _signal.signal(number, self._forward_signal)
        modes = self._read_modes()
        self._start()
        status, usage = self._wait_for_child()
        code, number = posix.waitstatus_to_exitcode(status), 0
        if code < 0:
            code, number = -1, -code
        self._give_terminal(posix.getpgrp())
        if modes is not None:
            # A shell that follows must not inherit raw mode or a missing echo from a killed program.
            _ignore_errors(termios.tcsetattr, 0, termios.TCSANOW, modes)
        self._save(
            state="finished",
            code=code,
            sig=number,
            t1=time.time_ns(),  # noqa: TID251 - runs without the package
            user=int(usage.ru_utime * 1e6),
            sys=int(usage.ru_stime * 1e6),
            rss=usage.ru_maxrss,
        )
        self._print(format_end_mark(self.spec.key, self.spec.job, code, number))
        if self._wait_for(ACKNOWLEDGE, self.spec.linger):
            self._save(told=1)

    def _start(self) -> None:
        """Start the command in a foreground process group of its own; record the error if it cannot be executed."""
        failure_end, child_end = posix.pipe()
        posix.set_inheritable(child_end, False)
        self._save(state="running", t0=time.time_ns())  # noqa: TID251
        # Blocked until the group has the terminal, so that no signal falls between fork and setpgid.
        self._child = posix.fork()
        if self._child == 0:
            self._run_command(child_end)
        posix.close(child_end)
        _ignore_errors(posix.setpgid, self._child, self._child)
        self._give_terminal(self._child)
        error = posix.read(failure_end, 16)
        posix.close(failure_end)
        self._save(child=self._child, **({"errno": int(error)} if error else {}))

    def _run_command(self, failure: int) -> None:
        """Execute the command. Runs in the child and never returns."""
        try:
            posix.setpgid(0, 0)
            self._give_terminal(posix.getpid())
            _reset_signals()
            if self.spec.cwd:
                posix.chdir(self.spec.cwd)
            _execute(self.spec.argv, {**posix.environ, **self.spec.env})
        except OSError as error:
            posix.write(failure, b"%d" % (error.errno or 0))
            is_folder = bool(self.spec.cwd) and error.filename == self.spec.cwd
            name = self.spec.cwd if is_folder else self.spec.argv[0]
            self._print(b"visor: " + name + f": {error.strerror}\n".encode())
            posix._exit(_NOT_FOUND_STATUS if error.errno == 2 and not is_folder else _NOT_EXECUTABLE_STATUS)
        finally:
            posix._exit(_NOT_EXECUTABLE_STATUS)

    def _read_modes(self) -> list[object] | None:
        try:
            return termios.tcgetattr(0)
        except (OSError, termios.error):  # the terminal is gone already
            return None

    def _give_terminal(self, group: int) -> None:
        _ignore_errors(posix.tcsetpgrp, 0, group)

    def _wait_for_child(self) -> tuple[int, struct_rusage]:
        while True:
            _, status, usage = posix.wait4(self._child, posix.WUNTRACED)
            if not posix.WIFSTOPPED(status):
                return status, usage
            # Ctrl-Z: there is no shell here that could continue it. A SIGSTOP is left alone: it was meant.
            if posix.WSTOPSIG(status) == _signal.SIGTSTP:
                _ignore_errors(posix.killpg, self._child, _signal.SIGCONT)

    def _forward_signal(self, number: int, _frame: object) -> None:
        if self._child:
            _ignore_errors(posix.killpg, self._child, number)
            if number == _signal.SIGHUP:
                # A stopped command could not react to the hang-up.
                _ignore_errors(posix.killpg, self._child, _signal.SIGCONT)

    def _wait_for(self, word: bytes, seconds: float) -> bool:
        """Return True once the daemon wrote this byte to the FIFO; False after a timeout."""
        until = time.monotonic() + seconds
        poll = select.poll()
        poll.register(self._go, select.POLLIN)
        while (left := until - time.monotonic()) > 0:
            if poll.poll(left * 1000) and word in posix.read(self._go, 64):
                return True
        return False

    def _save(self, **fields: object) -> None:
        """Overwrite the result file in place, which needs no space on the disk."""
        self.fields |= fields
        _ignore_errors(posix.pwrite, self._result, format_result(self.spec.key, self.fields), 0)

    def _print(self, data: bytes) -> None:
        while data:
            try:
                data = data[posix.write(1, data) :]
            except OSError:  # the terminal is gone
                return


def _execute(argv: list[bytes], env: dict[bytes, bytes]) -> None:
    """Replace this process with the program, found along PATH. Raises OSError."""
    if b"/" in argv[0]:
        posix.execve(argv[0], argv, env)
    failure: OSError = FileNotFoundError(2, "command not found")
    for folder in env.get(b"PATH", b"/usr/local/bin:/usr/bin:/bin").split(b":"):
        try:
            posix.execve((folder or b".") + b"/" + argv[0], argv, env)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            failure = error
    raise failure


def _reset_signals() -> None:
    for number in (*_IGNORED, *_FORWARDED, *_RESET):
        _signal.signal(number, _signal.SIG_DFL)


def _ignore_errors(call: object, *args: object) -> None:
    try:
        call(*args)  # type: ignore[operator]
    except (OSError, termios.error):
        # The process, its group or the terminal has just gone.
        return


def _read_boot_id() -> str:
    try:
        descriptor = posix.open("/proc/sys/kernel/random/boot_id", posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError:  # not Linux
        return "-"
    try:
        return posix.read(descriptor, 64).decode().strip() or "-"
    finally:
        posix.close(descriptor)


def main() -> None:
    process = JobProcess(sys.argv[1])
    process.run()
    if process.spec.is_interactive and process.fields["state"] == "finished":
        _reset_signals()
        if process.spec.cwd:
            _ignore_errors(posix.chdir, process.spec.cwd)
        shell = posix.environ.get(b"SHELL", b"/bin/sh")
        posix.execve(shell, [shell, b"-i"], {**posix.environ, **process.spec.env})
    code = process.fields.get("code", 1)
    posix._exit(int(code) & 0xFF if isinstance(code, int) and code >= 0 else 1)


if __name__ == "__main__":
    main()
