"""The only file that starts programs. Linux-only calls carry their macOS counterpart, which is untested."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Literal, NamedTuple

_DIE_WITH_PARENT_SCRIPT = (
    "import ctypes, os, sys\n"
    "parent = int(sys.argv[1])\n"
    "if sys.platform == 'linux':\n"
    "    ctypes.CDLL(None).prctl(1, 9)\n"
    "if os.getppid() != parent: os._exit(1)\n"
    "os.execvp(sys.argv[2], sys.argv[2:])\n"
)
"""Sets PR_SET_PDEATHSIG to SIGKILL, then becomes the program. macOS has no such call: there the reader's thread
kills the client on its own stall, and a killed daemon leaves it until its next write fails (untested)."""

_MAX_KEPT_BYTES = 4096
"""Bytes of what a program says that are kept."""


def start_tied(argv: Sequence[str], *, stdin: int, stdout: int, env: Mapping[str, str] | None = None) -> "ChildProcess":
    """Start a program that dies with us, even when we are killed. Call from the main thread."""
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
    """Start a program in its own session that goes on without us and without a terminal."""
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
) -> tuple[int, bytes, bytes]:
    """Run a short program to its end: exit status, output, errors. A missing program is status 127.

    At the timeout it is killed: status 124, with what it said until then.
    """
    try:
        done = subprocess.run(argv, capture_output=True, input=stdin, timeout=timeout_s, env=env, cwd=cwd, check=False)
    except FileNotFoundError:
        return 127, b"", f"{argv[0]}: not found".encode()
    except subprocess.TimeoutExpired as error:
        return 124, error.stdout or b"", f"{argv[0]}: no answer within {timeout_s} s".encode()
    return done.returncode, done.stdout, done.stderr


def is_installed(program: str) -> bool:
    """Whether it can be started. `shutil.which` says the same and brings half a megabyte of compressors along."""
    folders = [""] if os.path.dirname(program) else os.get_exec_path()
    paths = (os.path.join(folder, program) for folder in folders)
    return any(os.path.isfile(path) and os.access(path, os.X_OK) for path in paths)


def run_in_terminal(argv: Sequence[str]) -> int:
    """Run a program at our own terminal until the person leaves it: its exit status, 127 for one that is missing."""
    try:
        return subprocess.run(argv, check=False).returncode
    except OSError:
        return 127


async def run_isolated(
    argv: Sequence[str], *, stdin: bytes = b"", timeout_s: float = 10.0, max_kept_bytes: int = _MAX_KEPT_BYTES
) -> tuple[int, bytes, bytes]:
    """Like `ask`, in a session of its own and while others work; of output and errors only the ends are kept.

    What it leaves running on purpose goes on. At the timeout (status 124), or when nobody waits for it any more, it is
    ended with all that it started. One that cannot be run is status 126.
    """
    import asyncio  # commands that only ask the daemon do without it

    with _open_anonymous_file(stdin) as given, _open_anonymous_file() as out, _open_anonymous_file() as errors:
        try:
            process = _start_isolated(argv, given, out, errors)
        except OSError as error:
            return 127 if isinstance(error, FileNotFoundError) else 126, b"", f"{argv[0]}: {error.strerror}".encode()
        try:
            async with asyncio.timeout(timeout_s):
                await _wait_for_exit(process)
        except TimeoutError:
            pass
        finally:
            status = _reap(process)
        return status, _read_tail(out, max_kept_bytes), _read_tail(errors, max_kept_bytes)


class ProgramResult(NamedTuple):
    """What came of a program: with ``trouble`` it did not end by itself, or never began."""

    status: int = 0
    out: bytes = b""
    errors: bytes = b""
    failure: Literal["", "missing", "cannot_start", "timed_out", "too_much"] = ""


async def run_bounded(
    argv: Sequence[str], *, timeout_s: float, max_bytes: int, env: Mapping[str, str]
) -> ProgramResult:
    """Like `ask_apart`, for programs that are trusted less: no input, the root folder, this environment, so many bytes.

    It is ended with all that it started: at the timeout, once it says more, when nobody waits for it, and at its end.
    """
    import asyncio

    try:
        process = _start_piped(argv, env)
    except OSError as error:
        said = f"{argv[0]}: {error.strerror}".encode()
        return ProgramResult(errors=said, failure="missing" if isinstance(error, FileNotFoundError) else "cannot_start")
    is_late = False
    with _OutputReader(process, max_bytes) as heard:
        try:
            async with asyncio.timeout(timeout_s):
                with heard.read_in_background():
                    await _wait_for_exit(process)
        except TimeoutError:
            is_late = True
        finally:
            status = _kill_group_and_wait(process)
        heard.read_rest()
        trouble: Literal["", "timed_out", "too_much"] = (
            "too_much" if heard.has_exceeded_limit else "timed_out" if is_late else ""
        )
        return ProgramResult(status, bytes(heard.out), bytes(heard.errors[-_MAX_KEPT_BYTES:]), trouble)


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
    """While it is not reaped the number of its group is its own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


class _OutputReader:
    """What a program says, as it says it; one that says too much is ended at once."""

    def __init__(self, process: subprocess.Popen[bytes], max_bytes: int):
        self._process, self._max_bytes = process, max_bytes
        self.out, self.errors = bytearray(), bytearray()
        self.has_exceeded_limit = False
        pairs = ((process.stdout, self.out), (process.stderr, self.errors))
        self._pipes = {pipe.fileno(): (pipe, into) for pipe, into in pairs if pipe is not None}
        for handle in self._pipes:
            os.set_blocking(handle, False)

    def __enter__(self) -> "_OutputReader":
        return self

    def __exit__(self, *_: object) -> None:
        for pipe, _into in self._pipes.values():
            pipe.close()

    @contextlib.contextmanager
    def read_in_background(self) -> Iterator[None]:
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

    def read_rest(self) -> None:
        """What it said last is still in its pipes."""
        for handle in self._pipes:
            while self._read_pipe(handle):
                pass

    def _read_pipe(self, handle: int) -> bool:
        """Whether there may be more."""
        try:
            data = os.read(handle, 1 << 16)
        except BlockingIOError:
            return False
        self._pipes[handle][1].extend(data)
        if len(self.out) + len(self.errors) > self._max_bytes:
            self.has_exceeded_limit = True
            self._kill_group()
        return bool(data) and not self.has_exceeded_limit

    def _kill_group(self) -> None:
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)


def _start_isolated(
    argv: Sequence[str], stdin: IO[bytes], out: IO[bytes], errors: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Started in one step, without a moment in which it runs and nobody knows its number."""
    return subprocess.Popen(argv, stdin=stdin, stdout=out, stderr=errors, start_new_session=True, cwd="/")


async def _wait_for_exit(process: subprocess.Popen[bytes]) -> None:
    import asyncio

    if sys.platform != "linux":
        await asyncio.to_thread(process.wait)  # untested
        return
    loop, has_ended, handle = asyncio.get_running_loop(), asyncio.Event(), os.pidfd_open(process.pid)
    loop.add_reader(handle, has_ended.set)
    try:
        await has_ended.wait()
    finally:
        loop.remove_reader(handle)
        os.close(handle)


def _reap(process: subprocess.Popen[bytes]) -> int:
    if (status := process.poll()) is not None:
        return status
    os.killpg(process.pid, signal.SIGKILL)  # not reaped yet, so the number is still its own
    process.wait()
    return 124


@contextlib.contextmanager
def _open_anonymous_file(data: bytes = b"") -> Iterator[IO[bytes]]:
    """A file that nobody else can open, in memory only. Of a pipe, whatever a program leaves running holds the end."""
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
    """A program we started."""

    def __init__(self, process: subprocess.Popen[bytes]):
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    def poll(self) -> int | None:
        """The exit status, or None while it runs. Reaps the child."""
        return self._process.poll()

    def disown(self) -> None:
        """It goes on without us; when it ends is no business of ours."""
        if self._process.poll() is None:
            self._process.returncode = 0  # else Python complains that we leave it running

    def kill(self, signal_number: int = signal.SIGKILL) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal_number)

    def wait(self, timeout_s: float = 5.0) -> int | None:
        """The exit status, or None when it still runs after the timeout."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None
