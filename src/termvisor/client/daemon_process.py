"""The daemon from outside: is it there, start it when it is not, stop it.

Ten callers at once start one daemon: whoever holds the start lock starts it, the others wait and find it.
"""

import contextlib
import fcntl
import os
import signal
import sys
from collections.abc import Iterator, Sequence

from termvisor.client.connection import reach
from termvisor.clock import SystemClock
from termvisor.errors import Unavailable, VisorError
from termvisor.protocol import error_line as complaint
from termvisor.protocol import jsonrpc as rpc
from termvisor.settings import Places, environment, prepare
from termvisor.system import lock_file as lock
from termvisor.system import subprocesses as spawn
from termvisor.system.polling import until

_started: list[spawn.Child] = []
"""Children of ours that go on without us; kept so that a long-lived caller does not forget them half-way."""


def is_running(places: Places) -> bool:
    """True from the daemon's first moment to its last, also while it starts or stops."""
    return lock.holder(places.daemon_lock) is not None


def greet(places: Places) -> rpc.Hello | None:
    """What the daemon says of itself; None when none takes clients."""
    if (line := reach(places.daemon_socket)) is None:
        return None
    line.close()
    return line.hello


COMMAND = (sys.executable, "-m", "termvisor", "daemon", "--foreground")


def ensure_running(places: Places, *, within: float = 10.0, command: Sequence[str] = COMMAND) -> rpc.Hello:
    """Greet the daemon; start it first when there is none."""
    if hello := greet(places):
        return hello
    prepare(places)
    with _only_starter(places):
        return greet(places) or _start(places, within, command)


def stop(places: Places, *, within: float = 10.0, keep_recorder: bool = False) -> int | None:
    """End the daemon in good order, or hard when it does not listen. Its pid, or None when there was none."""
    pid = lock.holder(places.daemon_lock)
    if pid is None:
        return None
    if not _ask_to_stop(places, keep_recorder):
        _signal(pid, signal.SIGTERM)
    if not _is_gone(places, within):
        _signal(pid, signal.SIGKILL)
        _is_gone(places, within)
    return pid


def error_file(places: Places) -> str:
    """Where the daemon's own early complaints go."""
    return f"{os.path.dirname(places.log_file)}/daemon.err"


@contextlib.contextmanager
def _only_starter(places: Places) -> Iterator[None]:
    descriptor = os.open(f"{places.runtime_dir}/start", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _start(places: Places, within: float, command: Sequence[str]) -> rpc.Hello:
    clock = SystemClock()
    until = clock.monotonic() + within
    child = _spawn(places, command)
    _started.append(child)
    while clock.monotonic() < until:
        status = child.wait(0.02)
        if hello := greet(places):
            return hello
        if status is not None:
            raise _why_it_ended(places, status)
    raise Unavailable(f"the daemon did not answer within {within:.0f} s", hint=f"See {places.log_file}.")


def _spawn(places: Places, command: Sequence[str]) -> spawn.Child:
    # The child lives in "/", so relative folders from the environment must reach it as absolute ones.
    folders = {
        "VISOR_CONFIG_DIR": places.config_dir,
        "VISOR_DATA_DIR": places.data_dir,
        "VISOR_RUNTIME_DIR": places.runtime_dir,
    }
    try:
        descriptor = os.open(error_file(places), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    except OSError as error:
        raise Unavailable(
            f"{error_file(places)} cannot be written: {error.strerror}",
            hint="Check the folder's rights, and that its disk is neither full nor mounted read-only.",
        ) from error
    with os.fdopen(descriptor, "wb") as errors:
        return spawn.detached(
            command,
            log=errors,
            env=environment() | folders,
        )


def _why_it_ended(places: Places, status: int) -> VisorError:
    with open(error_file(places), encoding="utf-8", errors="replace") as file:
        text = file.read()
    found = complaint.heard(text)
    last = text.strip().rpartition("\n")[2] or f"status {status}"
    return found or Unavailable(f"the daemon could not start: {last}", hint=f"See {error_file(places)}.")


def _ask_to_stop(places: Places, keep_recorder: bool) -> bool:
    try:
        if (line := reach(places.daemon_socket)) is None:
            return False
        line.call("shutdown", {"keep_recorder": keep_recorder})
        line.close()
    except VisorError:
        return False
    return True


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        if pid > 0:
            os.kill(pid, number)


def _is_gone(places: Places, within: float) -> bool:
    return until(lambda: not is_running(places), within)
