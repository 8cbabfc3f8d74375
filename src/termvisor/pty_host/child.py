"""Start a program in a new terminal and hold it before its first instruction.

The child waits on a pipe, the gate, between fork and exec: until then nothing is printed, so the recorder can take the
terminal first. If the host dies before it opens the gate, the program never runs.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import errno
import fcntl
import posix
import resource
import sys
import termios

from termvisor.pty_host.spec import ProgramSpec

EXIT_NOT_EXECUTABLE, EXIT_NOT_FOUND = 126, 127
_GATE_FD, _ERROR_FD = 3, 4
_DEFAULT_PATH = b"/usr/local/bin:/usr/bin:/bin"
_LAST_SIGNAL = 64
MAX_DESCRIPTORS = 10_240
"""The host raises its own limit no further, so that a child can close all it inherits."""


class HeldChild:
    """A child that waits at its gate; ``error_fd`` tells the errno of exec, or ends when exec has succeeded."""

    __slots__ = ("error_fd", "gate", "master", "pid", "tty")

    def __init__(self, pid: int, master: int, gate: int, error_fd: int, tty: str):
        self.pid, self.master, self.gate, self.error_fd, self.tty = pid, master, gate, error_fd, tty


def start_held_child(spec: ProgramSpec, umask: int, descriptor_limit: int) -> HeldChild:
    """Open a terminal and fork. Raises OSError if the system is out of terminals, descriptors or processes."""
    master, slave = posix.openpty()
    fds = [master, slave]
    try:
        gate_out, gate_in = posix.pipe()
        fds += [gate_out, gate_in]
        error_out, error_in = posix.pipe()
        fds += [error_out, error_in]
        tty = posix.ttyname(slave)
        set_terminal_size(master, spec.rows, spec.columns, spec.pixel_width, spec.pixel_height)
        _mark_utf8(slave)
        pid = posix.fork()
    except OSError:
        for fd in fds:
            posix.close(fd)
        raise
    if pid == 0:
        _run_child(spec, slave, gate_out, error_in, (umask, descriptor_limit))
    for fd in (slave, gate_out, error_in):
        posix.close(fd)
    posix.set_blocking(master, False)
    posix.set_blocking(error_out, False)
    return HeldChild(pid, master, gate_in, error_out, tty)


def set_terminal_size(master: int, rows: int, columns: int, width: int, height: int) -> None:
    size = b"".join([number.to_bytes(2, sys.byteorder) for number in (rows, columns, width, height)])
    fcntl.ioctl(master, termios.TIOCSWINSZ, size)


def _mark_utf8(slave: int) -> None:
    """Make the line editor of the kernel erase whole characters."""
    attributes = termios.tcgetattr(slave)
    attributes[0] |= getattr(termios, "IUTF8", 0x4000)
    termios.tcsetattr(slave, termios.TCSANOW, attributes)


def _run_child(spec: ProgramSpec, slave: int, gate: int, error_fd: int, limits: tuple[int, int]) -> None:
    """Wait at the gate, then become the program. Never returns."""
    number = errno.EINTR
    try:
        _prepare_child(slave, gate, error_fd, limits)
        # The host died, and with it the only process that could tell how this one ends.
        if not posix.read(_GATE_FD, 1):
            posix._exit(EXIT_NOT_EXECUTABLE)
        posix.chdir(spec.cwd)
        _execute(spec)
    except OSError as error:
        number = error.errno or 0
    except BaseException:  # a signal handler of the host, or no memory
        number = errno.EINTR
    try:
        posix.write(_ERROR_FD, b"%d" % number)
    finally:
        posix._exit(EXIT_NOT_FOUND if number == errno.ENOENT else EXIT_NOT_EXECUTABLE)


def _prepare_child(slave: int, gate: int, error_fd: int, limits: tuple[int, int]) -> None:
    _signal.set_wakeup_fd(-1)
    for signal_number in range(1, _LAST_SIGNAL + 1):
        if signal_number not in (_signal.SIGKILL, _signal.SIGSTOP):
            try:  # noqa: SIM105 - importing contextlib would cost the host half a megabyte
                _signal.signal(signal_number, _signal.SIG_DFL)
            except (OSError, ValueError):
                pass  # reserved by the C library
    posix.setsid()
    # Numbers above all that are copied, so that no copy overwrites another one's source.
    spare = [fcntl.fcntl(fd, fcntl.F_DUPFD, 16) for fd in (slave, gate, error_fd)]
    for fd in (0, 1, 2):
        posix.dup2(spare[0], fd)
    posix.dup2(spare[1], _GATE_FD, False)
    posix.dup2(spare[2], _ERROR_FD, False)
    umask, descriptor_limit = limits
    # The child must not keep the other terminals and connections of the host while it waits.
    posix.closerange(_ERROR_FD + 1, MAX_DESCRIPTORS)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    posix.umask(umask)
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptor_limit, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    _signal.pthread_sigmask(_signal.SIG_SETMASK, [])


def _execute(spec: ProgramSpec) -> None:
    """Replace this process. Raises OSError with the most telling errno of all folders of PATH."""
    env = dict([word.split(b"=", 1) for word in spec.env])
    name = spec.argv[0]
    if b"/" in name:
        posix.execve(name, spec.argv, env)
    failure = FileNotFoundError(errno.ENOENT, "not found")
    result: OSError = failure
    for folder in env.get(b"PATH", _DEFAULT_PATH).split(b":"):
        try:
            posix.execve((folder or b".") + b"/" + name, spec.argv, env)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                result = error
    raise result
