"""Carries a command line to the daemon and its answer to stdout and stderr.

Invariant: it imports nothing beyond the interpreter's own start, because `visor robot` passes through here and must
cost about as much as `python -c pass`. The daemon does the thinking and the formatting.
"""

import os
import select

from termvisor.wire import face
from termvisor.wire.dial import dial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Callable, Iterator, Mapping

NOBODY = -1
"""No daemon listens."""
YOURSELF = -2
"""The daemon says that this command needs no daemon."""
LOST = -3
"""The daemon went away before it finished, or does not answer at all."""
_HEARD_WITHIN = 10.0
CANNOT_WRITE = 74
"""The exit status when the file for the answer cannot be opened or written."""


def socket_path(environ: "Mapping[str, str]") -> str:
    """`settings.places().daemon_socket`, without the cost of importing the settings."""
    runtime = environ.get("VISOR_RUNTIME_DIR") or (
        f"{environ['XDG_RUNTIME_DIR']}/termvisor" if environ.get("XDG_RUNTIME_DIR") else f"/tmp/termvisor-{os.getuid()}"  # noqa: S108 - the daemon made it private, and dial looks who listens
    )
    return f"{os.path.abspath(runtime)}/daemon"


def config_path(environ: "Mapping[str, str]") -> str:
    """`settings.places().config_file`, for the same reason."""
    home = environ.get("HOME") or os.path.expanduser("~")
    folder = environ.get("VISOR_CONFIG_DIR") or f"{environ.get('XDG_CONFIG_HOME') or home + '/.config'}/termvisor"
    return f"{os.path.abspath(folder)}/config.toml"


def carry(path: str, asked: face.Asked) -> int:
    """Ask the daemon, copy its answer to our stdout and stderr: the exit status, or one of the names above."""
    outlet = Outlet()
    try:
        status = collect(path, asked, outlet.deliver)
    except OSError as error:
        if not outlet.has_file and not error.filename:
            raise
        text = f"visor: the answer cannot be written: {error.strerror}\nhint: Check the folder and its free space.\n"
        write(2, text.encode())
        return CANNOT_WRITE
    return carry(path, asked.confirmed()) if outlet.has_consent() else status


class Outlet:
    """Where an answer goes: stdout or a file, stderr, and what to confirm to the person at the terminal, if any."""

    def __init__(self) -> None:
        self._targets = {b"o": 1, b"e": 2}
        self._question = b""
        self.has_file = False

    def deliver(self, kind: bytes, data: bytes) -> None:
        if kind == b"f":
            self._targets[b"o"] = _private_file(data)
            self.has_file = True
        elif kind == b"q":
            self._ask_later(data)
        elif not self._question:  # a refusal is for those who cannot be asked
            write(self._targets[kind], data)

    def _ask_later(self, shown: bytes) -> None:
        from termvisor.frontends.consent import is_attended

        if is_attended():
            self._question += shown

    def has_consent(self) -> bool:
        """Ask what is to be asked, once everything is said. False also when there is nothing to ask."""
        if not self._question:
            return False
        from termvisor.frontends.consent import given

        return given(self._question)


def _private_file(path: bytes) -> int:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    if os.path.isfile(path):
        os.fchmod(descriptor, 0o600)
    return descriptor


def collect(path: str, asked: face.Asked, deliver: "Callable[[bytes, bytes], None]") -> int:
    """Ask the daemon; its output goes to ``deliver`` as (``o``, ``e`` or ``f``, bytes)."""
    line = dial(path)
    if line is None:
        return NOBODY
    came_back = NOBODY  # one that hangs up without a word is just ending: a new one may answer
    try:
        for kind, number, body in _frames(line, asked):
            came_back = LOST
            if kind == b"x":
                return number
            if kind == b"l":
                return YOURSELF
            if body:
                deliver(kind, body)
        return came_back
    finally:
        line.close()


def _frames(line: "socket", asked: face.Asked) -> "Iterator[tuple[bytes, int, bytes]]":
    """What the daemon answers. It must be heard soon; then it may take its time."""
    frames = face.Frames()
    line.settimeout(_HEARD_WITHIN)
    try:
        line.sendall(face.encode(asked))
        while data := line.recv(1 << 16):
            line.settimeout(None)
            yield from frames.feed(data)
    except (TimeoutError, face.Malformed):
        yield b"?", 0, b""  # somebody is there, and it is no use to start another
    except ConnectionError:
        return


def write(target: int, data: bytes) -> None:
    """All of it, also where the other side made the descriptor non-blocking."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(target, rest) :]
        except BlockingIOError:
            select.select([], [target], [])
