"""Carries a command line to the daemon and its answer to stdout and stderr.

Invariant: it imports nothing beyond the interpreter's own start, because `visor robot` passes through here and must
cost about as much as `python -c pass`. The daemon does the thinking and the formatting.
"""

import os
import select

from termvisor.protocol import command_protocol as face
from termvisor.protocol.connect import dial

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
    outlet = Outlet(asked)
    try:
        status = collect(path, asked, outlet.deliver)
    except OSError as error:
        if not outlet.has_file and not error.filename:
            raise
        text = f"visor: the answer cannot be written: {error.strerror}\nhint: Check the folder and its free space.\n"
        write(2, text.encode())
        return CANNOT_WRITE
    again = outlet.again(lambda aside: collect(path, aside, _unheard))
    return status if again is None else carry(path, again)


class Outlet:
    """Where an answer goes: stdout or a file, stderr; and what it wants of this side before there can be another one.

    What only this side has is a text in a file or on stdin, and the person at the terminal.
    """

    def __init__(self, asked: face.Asked) -> None:
        self._asked = asked
        self._targets = {b"o": 1, b"e": 2}
        self._wanted: dict[bytes, bytes] = {}
        self._is_attended: bool | None = None
        self.has_file = False

    def deliver(self, kind: bytes, data: bytes) -> None:
        if kind == b"f":
            self._targets[b"o"] = _private_file(data)
            self.has_file = True
        elif kind in self._targets:
            if not self._has_question:  # a refusal is for those who cannot be asked
                write(self._targets[kind], data)
        else:
            self._wanted[kind] = self._wanted.get(kind, b"") + data

    def again(self, aside: "Callable[[face.Asked], object]") -> "face.Asked | None":
        """The command line with what was missing, if it is to be carried again. ``aside`` carries another one."""
        if source := self._wanted.get(b"i"):
            from termvisor.frontends.cli.read_input import read

            return self._asked.filled(read(source))
        if not self._has_question:
            return None
        from termvisor.frontends.cli.confirm import Question, settle

        parts = (self._wanted.get(kind, b"") for kind in (b"q", b"n", b"t"))
        return settle(self._asked, Question(*parts), aside)

    @property
    def _has_question(self) -> bool:
        """Whether there is one, and somebody to answer it."""
        if not self._wanted.keys() & {b"q", b"t"}:
            return False
        if self._is_attended is None:
            from termvisor.frontends.cli.confirm import is_attended

            self._is_attended = is_attended(self._asked)
        return self._is_attended


def _unheard(_kind: bytes, _data: bytes) -> None:
    """For what is said to the daemon beside the point."""


def _private_file(path: bytes) -> int:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    if os.path.isfile(path):
        os.fchmod(descriptor, 0o600)
    return descriptor


def collect(path: str, asked: face.Asked, deliver: "Callable[[bytes, bytes], None]") -> int:
    """Ask the daemon; its output goes to ``deliver`` as (kind of frame, bytes)."""
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
