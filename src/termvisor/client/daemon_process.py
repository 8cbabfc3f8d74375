"""Find, start and stop the daemon process.

Invariant: concurrent callers start only one daemon. The holder of the start lock starts it; the others wait for it.
A daemon that upgrades a large database works for minutes before it answers: as long as it uses CPU time it is waited
for, with a line on stderr now and then.
"""

import contextlib
import fcntl
import os
import signal
import sys
from collections.abc import Iterator, Sequence

from termvisor.client.connection import connect_if_running
from termvisor.clock import SystemClock
from termvisor.errors import Unavailable, VisorError, parse_last_error
from termvisor.protocol import jsonrpc
from termvisor.settings import Paths, get_environment, make_instance_folders
from termvisor.system import files, subprocesses
from termvisor.system.procfs import read_stat
from termvisor.system.retry import wait_until

# Detached child processes, referenced so that they are not garbage collected while running.
_started_daemons: list[subprocesses.ChildProcess] = []
_FOLDERS_HINT = "Check the folder's permissions, and that its disk is neither full nor mounted read-only."
_FIRST_REPORT_S, _REPORT_INTERVAL_S = 5.0, 10.0
"""When the progress of a slow start is reported on stderr, for the first time and then again."""
_MAX_LOCK_WAIT_S = 86_400.0
# Without the columns of instructions, which only tracebacks show, the code takes half a megabyte less.
DAEMON_COMMAND = (sys.executable, "-X", "no_debug_ranges", "-m", "termvisor", "daemon", "--foreground")


def is_running(paths: Paths) -> bool:
    """Return True if a daemon process exists, even one that is starting or stopping."""
    return files.read_lock_holder(paths.daemon_lock) is not None


def fetch_hello(paths: Paths) -> jsonrpc.DaemonHello | None:
    """Return the daemon's hello; None if no daemon accepts clients."""
    if (connection := connect_if_running(paths.daemon_socket)) is None:
        return None
    connection.close()
    return connection.hello


def ensure_running(
    paths: Paths, *, timeout_s: float = 10.0, command: Sequence[str] = DAEMON_COMMAND
) -> jsonrpc.DaemonHello:
    """Return the daemon's hello; start the daemon first if it is not running.

    Raises Unavailable if the new daemon neither answers nor works for ``timeout_s``.
    """
    if hello := fetch_hello(paths):
        return hello
    make_instance_folders(paths)
    try:
        progress = _StartProgress()
        with _hold_start_lock(paths, progress):
            # Check again: another caller may have started the daemon while this one waited for the lock.
            return fetch_hello(paths) or _start_daemon(paths, timeout_s, command, progress)
    except OSError as error:
        # A file of the runtime or data folder has other permissions, or is something else than a file.
        raise Unavailable(f"cannot start the daemon: {error.filename}: {error.strerror}", hint=_FOLDERS_HINT) from error


def stop_daemon(paths: Paths, *, timeout_s: float = 10.0, keep_recorder: bool = False) -> int | None:
    """Stop the daemon by request, SIGTERM or SIGKILL, and return its pid; None if none was running."""
    pid = files.read_lock_holder(paths.daemon_lock)
    if pid is None:
        return None
    # A daemon that hangs or speaks another protocol cannot be asked.
    if not _ask_to_stop(paths, keep_recorder):
        _send_signal(pid, signal.SIGTERM)
    if not _wait_until_gone(paths, timeout_s):
        _send_signal(pid, signal.SIGKILL)
        _wait_until_gone(paths, timeout_s)
    return pid


def get_error_file(paths: Paths) -> str:
    """Return the path of the file that receives the daemon's stderr: errors before its log file is open."""
    return f"{os.path.dirname(paths.log_file)}/daemon.err"


class _StartProgress:
    """Reports on stderr that a start takes long."""

    def __init__(self) -> None:
        self._monotonic = SystemClock().monotonic
        self._started_at = self._monotonic()
        self._report_at = self._started_at + _FIRST_REPORT_S

    def report_if_due(self) -> None:
        if self._monotonic() < self._report_at:
            return
        self._report_at = self._monotonic() + _REPORT_INTERVAL_S
        seconds = self._monotonic() - self._started_at
        sys.stderr.write(
            f"visor: the daemon is starting, {seconds:.0f} s so far: it may be upgrading a large database."
            " Ctrl-C stops waiting, not the upgrade.\n"
        )
        sys.stderr.flush()


@contextlib.contextmanager
def _hold_start_lock(paths: Paths, progress: _StartProgress) -> Iterator[None]:
    descriptor = os.open(f"{paths.runtime_dir}/start", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        wait_until(lambda: _try_lock(descriptor, progress), _MAX_LOCK_WAIT_S)
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int, progress: _StartProgress) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        progress.report_if_due()
        return False
    return True


def _start_daemon(
    paths: Paths, timeout_s: float, command: Sequence[str], progress: _StartProgress
) -> jsonrpc.DaemonHello:
    clock = SystemClock()
    child = _spawn_daemon(paths, command)
    _started_daemons.append(child)
    deadline, cpu_ticks = clock.monotonic() + timeout_s, 0
    while clock.monotonic() < deadline:
        status = child.wait(0.02)
        if hello := fetch_hello(paths):
            return hello
        if status is not None:
            raise _read_start_error(paths, status)
        process = read_stat(child.pid)
        if process is not None and process.cpu_ticks > cpu_ticks:
            deadline, cpu_ticks = clock.monotonic() + timeout_s, process.cpu_ticks
        progress.report_if_due()
    message = f"the daemon neither answered nor did anything for {timeout_s:.0f} s"
    raise Unavailable(message, hint=f"See {paths.log_file}; `visor down` stops it.")


def _spawn_daemon(paths: Paths, command: Sequence[str]) -> subprocesses.ChildProcess:
    # The child's working directory is "/", so pass relative folders from the environment as absolute paths.
    folders = {
        "VISOR_CONFIG_DIR": paths.config_dir,
        "VISOR_DATA_DIR": paths.data_dir,
        "VISOR_RUNTIME_DIR": paths.runtime_dir,
    }
    try:
        descriptor = os.open(get_error_file(paths), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    except OSError as error:
        raise Unavailable(f"{get_error_file(paths)} cannot be written: {error.strerror}", hint=_FOLDERS_HINT) from error
    with os.fdopen(descriptor, "wb") as errors:
        return subprocesses.start_detached(command, log=errors, env=get_environment() | folders)


def _read_start_error(paths: Paths, status: int) -> VisorError:
    with open(get_error_file(paths), encoding="utf-8", errors="replace") as file:
        text = file.read()
    error = parse_last_error(text)
    last_line = text.strip().rpartition("\n")[2] or f"status {status}"
    return error or Unavailable(f"the daemon could not start: {last_line}", hint=f"See {get_error_file(paths)}.")


def _ask_to_stop(paths: Paths, keep_recorder: bool) -> bool:
    try:
        if (connection := connect_if_running(paths.daemon_socket)) is None:
            return False
        connection.call("shutdown", {"keep_recorder": keep_recorder})
        connection.close()
    except VisorError:
        # It hangs or speaks another protocol, so the caller sends a signal.
        return False
    return True


def _send_signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        # The pid is 0 until the lock holder has written it, and kill(0) would signal our own process group.
        if pid > 0:
            os.kill(pid, number)


def _wait_until_gone(paths: Paths, timeout_s: float) -> bool:
    return wait_until(lambda: not is_running(paths), timeout_s)
