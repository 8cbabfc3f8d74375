"""Start child processes; no other module may. Linux-only calls have a macOS counterpart, which is untested."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Literal, NamedTuple

# Set PR_SET_PDEATHSIG to SIGKILL, then exec the program. macOS has no such call; there the reader thread kills the
# client when it stalls, and the client of a killed daemon runs until its next write fails (untested).
_DIE_WITH_PARENT_SCRIPT = (
    "import ctypes, os, sys\n"
    "parent = int(sys.argv[1])\n"
    "if sys.platform == 'linux':\n"
    "    ctypes.CDLL(None).prctl(1, 9)\n"
    "if os.getppid() != parent: os._exit(1)\n"
    "os.execvp(sys.argv[2], sys.argv[2:])\n"
)

# How many bytes are kept of the end of a program's output.
_MAX_KEPT_BYTES = 4096
# How many bytes a program may print, because its output is in memory, and how often that is checked.
_MAX_PRINTED_BYTES, _SIZE_CHECK_INTERVAL_S = 1 << 20, 0.02
# How soon the exit of a program is noticed if a background process keeps its pipes open.
_EXIT_CHECK_INTERVAL_S = 0.05
# The output of a short program is in memory; that of the largest, a worker, has a few megabytes.
_MAX_CAPTURED_BYTES = 64 << 20
TOO_MUCH_OUTPUT = 125
"""Exit status of a program that was killed because it printed too much."""


def start_tied(argv: Sequence[str], *, stdin: int, stdout: int, env: Mapping[str, str] | None = None) -> "ChildProcess":
    """Start a program that is killed when this process exits, even by SIGKILL.

    Call from the main thread, because the kernel sends the signal when the thread that started the program exits.
    """
    command = [sys.executable, "-ISE", "-c", _DIE_WITH_PARENT_SCRIPT, str(os.getpid()), *argv]
    return ChildProcess(
        subprocess.Popen(
            command, stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL, env=env, start_new_session=True
        )
    )


def start_detached(
    argv: Sequence[str],
    *,
    stdin: int = subprocess.DEVNULL,
    log: IO[bytes] | None = None,
    env: Mapping[str, str] | None = None,
) -> "ChildProcess":
    """Start a program that outlives this process, in its own session and without a terminal."""
    out = subprocess.DEVNULL if log is None else log
    return ChildProcess(
        subprocess.Popen(argv, stdin=stdin, stdout=out, stderr=out, env=env, start_new_session=True, cwd="/")
    )


def run_and_capture(
    argv: Sequence[str],
    *,
    timeout_s: float = 10.0,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    max_bytes: int = _MAX_CAPTURED_BYTES,
) -> tuple[int, bytes, bytes]:
    """Run a short program and return its exit status, stdout and stderr.

    The status is 127 if the program is not found, 124 (with the output so far) if it was killed at the timeout, and 125
    (without output) if it was killed because it printed more than ``max_bytes``.
    """
    try:
        with _open_anonymous_file(stdin) as source:
            process = subprocess.Popen(
                argv, bufsize=0, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, cwd=cwd
            )
    except FileNotFoundError:
        return 127, b"", f"{argv[0]}: not found".encode()
    with _OutputReader(process, max_bytes) as output:
        has_ended = False
        try:
            # A program closes its output before it has exited.
            has_ended = output.read_until_end(timeout_s) and ChildProcess(process).wait(timeout_s) is not None
        finally:
            if process.poll() is None:
                process.kill()
            status = process.wait()
        if output.has_exceeded_limit:
            return TOO_MUCH_OUTPUT, b"", f"{argv[0]}: printed more than {max_bytes} bytes".encode()
        if not has_ended:
            # Same status as timeout(1).
            return 124, bytes(output.out), f"{argv[0]}: timed out after {timeout_s:g} s".encode()
        return status, bytes(output.out), bytes(output.errors)


def is_installed(program: str) -> bool:
    """Return True if a program is in the PATH and executable."""
    # Not `shutil.which`, because importing shutil costs half a megabyte for its compressors.
    folders = [""] if os.path.dirname(program) else os.get_exec_path()
    paths = (os.path.join(folder, program) for folder in folders)
    return any(os.path.isfile(path) and os.access(path, os.X_OK) for path in paths)


def run_in_terminal(argv: Sequence[str]) -> int:
    """Run an interactive program in this terminal and return its exit status; 127 if it cannot be started."""
    try:
        return subprocess.run(argv, check=False).returncode
    except OSError:
        return 127


async def run_isolated(
    argv: Sequence[str], *, stdin: bytes = b"", timeout_s: float = 10.0, max_kept_bytes: int = _MAX_KEPT_BYTES
) -> tuple[int, bytes, bytes]:
    """Run a program in its own session without blocking the event loop; return status and ends of stdout and stderr.

    Background processes that it leaves behind keep running. At the timeout (status 124), when it has printed more than
    a megabyte (or ``max_kept_bytes``, if that is more; status 125), and when the caller is cancelled, its whole process
    group is killed. Returns status 126 if it cannot be started.
    """
    import asyncio  # imported late: the command line client does not need it

    limit = max(_MAX_PRINTED_BYTES, max_kept_bytes)
    with _open_anonymous_file(stdin) as source, _open_anonymous_file() as out, _open_anonymous_file() as errors:

        def is_too_much() -> bool:
            return any(os.fstat(file.fileno()).st_size > limit for file in (out, errors))

        try:
            process = _start_isolated(argv, source, out, errors)
        except OSError as error:
            return 127 if isinstance(error, FileNotFoundError) else 126, b"", f"{argv[0]}: {error.strerror}".encode()
        try:
            async with asyncio.timeout(timeout_s):
                await _wait_for_exit(process, is_too_much)
        except TimeoutError:
            # `_reap` kills the process if it is still running, and returns the status.
            pass
        finally:
            status = _reap(process)
        if is_too_much():
            return TOO_MUCH_OUTPUT, b"", f"{argv[0]}: printed more than {limit} bytes".encode()
        return status, _read_tail(out, max_kept_bytes), _read_tail(errors, max_kept_bytes)


class ProgramResult(NamedTuple):
    """The result of a program; ``failure`` is set if the program did not start or did not exit on its own."""

    status: int = 0
    out: bytes = b""
    errors: bytes = b""
    failure: Literal["", "missing", "cannot_start", "timed_out", "too_much"] = ""


async def run_bounded(
    argv: Sequence[str], *, timeout_s: float, max_bytes: int, env: Mapping[str, str]
) -> ProgramResult:
    """Run a less trusted program: no input, in the folder `/`, only this environment, at most ``max_bytes`` of output.

    Its process group is killed at the timeout, at the output limit, when the caller is cancelled, and when it exits.
    """
    import asyncio

    try:
        process = _start_piped(argv, env)
    except OSError as error:
        message = f"{argv[0]}: {error.strerror}".encode()
        is_missing = isinstance(error, FileNotFoundError)
        return ProgramResult(errors=message, failure="missing" if is_missing else "cannot_start")
    has_timed_out = False
    with _OutputReader(process, max_bytes) as output:
        try:
            async with asyncio.timeout(timeout_s):
                with output.read_in_background():
                    await _wait_for_exit(process)
        except TimeoutError:
            has_timed_out = True
        finally:
            status = _kill_group_and_wait(process)
        output.read_rest()
        failure: Literal["", "timed_out", "too_much"] = (
            "too_much" if output.has_exceeded_limit else "timed_out" if has_timed_out else ""
        )
        return ProgramResult(status, bytes(output.out), bytes(output.errors[-_MAX_KEPT_BYTES:]), failure)


def _start_piped(argv: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        argv,
        bufsize=0,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        cwd="/",
        start_new_session=True,
    )


def _kill_group_and_wait(process: subprocess.Popen[bytes]) -> int:
    # Must precede wait(): until the process is reaped, its group id cannot be reused.
    _kill_group(process)
    return process.wait()


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    # The group is gone, or its remaining members run as another user.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


class _OutputReader:
    """Reader of a running program's stdout and stderr, which kills it when their total exceeds ``max_bytes``."""

    def __init__(self, process: subprocess.Popen[bytes], max_bytes: int):
        self._process, self._max_bytes = process, max_bytes
        self.out, self.errors = bytearray(), bytearray()
        self.has_exceeded_limit = False
        pairs = ((process.stdout, self.out), (process.stderr, self.errors))
        self._pipes = {pipe.fileno(): (pipe, buffer) for pipe, buffer in pairs if pipe is not None}
        for handle in self._pipes:
            os.set_blocking(handle, False)

    def __enter__(self) -> "_OutputReader":
        return self

    def __exit__(self, *_: object) -> None:
        for pipe, _buffer in self._pipes.values():
            pipe.close()

    @contextlib.contextmanager
    def read_in_background(self) -> Iterator[None]:
        """Read on the event loop while the context is active."""
        import asyncio

        loop = asyncio.get_running_loop()

        def on_readable(handle: int) -> None:
            if not self._read_pipe(handle):
                loop.remove_reader(handle)

        for handle in self._pipes:
            loop.add_reader(handle, on_readable, handle)
        try:
            yield
        finally:
            for handle in self._pipes:
                loop.remove_reader(handle)

    def read_until_end(self, timeout_s: float) -> bool:
        """Read, blocking, until both pipes are closed or the program has exited and its output is read.

        Return False at the timeout or the output limit. A background process that the program started may keep the
        pipes open, and is not waited for.
        """
        import select

        from termvisor.clock import SystemClock  # imported late: it loads asyncio, which the client does not need

        clock, open_handles = SystemClock(), set(self._pipes)
        until = clock.monotonic() + timeout_s
        # Not select(), which fails for descriptors above 1023.
        poll = select.poll()
        for handle in open_handles:
            poll.register(handle, select.POLLIN)
        while open_handles and not self.has_exceeded_limit:
            has_exited, left = self._process.poll() is not None, until - clock.monotonic()
            # What a program printed is in the pipe when it has exited, so one look without waiting finds all of it.
            readable = poll.poll(0 if has_exited else max(0.0, min(left, _EXIT_CHECK_INTERVAL_S)) * 1000)
            if left <= 0 or (has_exited and not readable):
                return has_exited
            for handle, _ in readable:
                if not self._read_pipe(handle):
                    poll.unregister(handle)
                    open_handles.remove(handle)
        return not self.has_exceeded_limit

    def read_rest(self) -> None:
        """Read what is left in the pipes after the program has exited."""
        for handle in self._pipes:
            while self._read_pipe(handle):
                pass

    def _read_pipe(self, handle: int) -> bool:
        """Read once; return True if there may be more."""
        try:
            data = os.read(handle, 1 << 16)
        except BlockingIOError:
            # Empty for now; the event loop calls again when there is more.
            return False
        self._pipes[handle][1].extend(data)
        if len(self.out) + len(self.errors) > self._max_bytes:
            self.has_exceeded_limit = True
            # After reaping, its group id may belong to another process.
            if self._process.returncode is None:
                _kill_group(self._process)
        return bool(data) and not self.has_exceeded_limit


def _start_isolated(
    argv: Sequence[str], stdin: IO[bytes], out: IO[bytes], errors: IO[bytes]
) -> subprocess.Popen[bytes]:
    # Popen rather than asyncio's create_subprocess, so that a cancellation cannot leave a process with an unknown pid.
    return subprocess.Popen(argv, stdin=stdin, stdout=out, stderr=errors, start_new_session=True, cwd="/")


async def _wait_for_exit(process: subprocess.Popen[bytes], is_over: Callable[[], bool] = lambda: False) -> None:
    """Wait until the process has exited or, checked now and then, until ``is_over``."""
    import asyncio

    if sys.platform != "linux":
        await asyncio.to_thread(process.wait)  # untested
        return
    loop, has_exited, handle = asyncio.get_running_loop(), asyncio.Event(), os.pidfd_open(process.pid)
    loop.add_reader(handle, has_exited.set)
    try:
        while not has_exited.is_set() and not is_over():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_SIZE_CHECK_INTERVAL_S):
                    await has_exited.wait()
    finally:
        loop.remove_reader(handle)
        os.close(handle)


def _reap(process: subprocess.Popen[bytes]) -> int:
    """Return the exit status. If the process is still running, kill its group and return 124."""
    if (status := process.poll()) is not None:
        return status
    # Not reaped yet, so its group id cannot be reused.
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return 124


@contextlib.contextmanager
def _open_anonymous_file(data: bytes = b"") -> Iterator[IO[bytes]]:
    """Open an unnamed file in memory.

    Not a pipe, because reading would block until every background process that inherited it has exited.
    """
    with open(_create_anonymous_file(), "w+b", buffering=0) as file:
        file.write(data)
        file.seek(0)
        yield file


def _create_anonymous_file() -> int:
    if sys.platform == "linux":
        return os.memfd_create("visor")
    from tempfile import TemporaryFile  # untested

    with TemporaryFile() as file:
        return os.dup(file.fileno())


def _read_tail(file: IO[bytes], max_bytes: int) -> bytes:
    file.seek(max(0, file.seek(0, os.SEEK_END) - max_bytes))
    return file.read()


class ChildProcess:
    """A child process of this process."""

    def __init__(self, process: subprocess.Popen[bytes]):
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    def poll(self) -> int | None:
        """Reap the child and return its exit status, or return None while it is running."""
        return self._process.poll()

    def disown(self) -> None:
        """Leave the child running and never wait for it."""
        # Otherwise Popen warns that the process is still running.
        if self._process.poll() is None:
            self._process.returncode = 0

    def kill(self, signal_number: int = signal.SIGKILL) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal_number)

    def wait(self, timeout_s: float = 5.0) -> int | None:
        """Return the exit status, or None if the child is still running after the timeout."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None
