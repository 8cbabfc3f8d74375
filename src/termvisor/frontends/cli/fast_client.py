"""Carries a command line to the daemon and its answer to stdout and stderr.

Invariant: it imports nothing beyond the interpreter's own start, because `visor robot` passes through here and must
cost about as much as `python -c pass`. The daemon does the thinking and the formatting.
"""

import os
import select

from termvisor.protocol import command_protocol
from termvisor.protocol.connect import connect_socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Callable, Iterator, Mapping

NO_DAEMON = -1
"""No daemon listens."""
RUN_LOCALLY = -2
"""The daemon says that this command needs no daemon."""
CONNECTION_LOST = -3
"""The daemon went away before it finished, or does not answer at all."""
_ACKNOWLEDGE_TIMEOUT_S = 10.0
CANNOT_WRITE_STATUS = 74
"""The exit status when the file for the answer cannot be opened or written."""


def get_socket_path(environ: "Mapping[str, str]") -> str:
    """`settings.places().daemon_socket`, without the cost of importing the settings."""
    runtime = environ.get("VISOR_RUNTIME_DIR") or (
        f"{environ['XDG_RUNTIME_DIR']}/termvisor" if environ.get("XDG_RUNTIME_DIR") else f"/tmp/termvisor-{os.getuid()}"  # noqa: S108 - the daemon made it private, and dial looks who listens
    )
    return f"{os.path.abspath(runtime)}/daemon"


def get_config_path(environ: "Mapping[str, str]") -> str:
    """`settings.places().config_file`, for the same reason."""
    home = environ.get("HOME") or os.path.expanduser("~")
    folder = environ.get("VISOR_CONFIG_DIR") or f"{environ.get('XDG_CONFIG_HOME') or home + '/.config'}/termvisor"
    return f"{os.path.abspath(folder)}/config.toml"


def send_command(path: str, request: command_protocol.CommandRequest) -> int:
    """Ask the daemon, copy its answer to our stdout and stderr: the exit status, or one of the names above."""
    outlet = OutputRouter(request)
    try:
        status = exchange(path, request, outlet.deliver)
    except OSError as error:
        if not outlet.has_file and not error.filename:
            raise
        text = f"visor: the answer cannot be written: {error.strerror}\nhint: Check the folder and its free space.\n"
        write_all(2, text.encode())
        return CANNOT_WRITE_STATUS
    again = outlet.build_retry(lambda aside: exchange(path, aside, _discard_output))
    return status if again is None else send_command(path, again)


class OutputRouter:
    """Where an answer goes: stdout or a file, stderr; and what it wants of this side before there can be another one.

    What only this side has is a text in a file or on stdin, and the person at the terminal.
    """

    def __init__(self, request: command_protocol.CommandRequest) -> None:
        self._request = request
        self._descriptors = {b"o": 1, b"e": 2}
        self._requested_inputs: dict[bytes, bytes] = {}
        self._can_ask_user: bool | None = None
        self.has_file = False

    def deliver(self, kind: bytes, data: bytes) -> None:
        if kind == b"f":
            self._descriptors[b"o"] = _open_private_file(data)
            self.has_file = True
        elif kind in self._descriptors:
            if not self._has_answerable_question:  # a refusal is for those who cannot be asked
                write_all(self._descriptors[kind], data)
        else:
            self._requested_inputs[kind] = self._requested_inputs.get(kind, b"") + data

    def build_retry(
        self, send_aside: "Callable[[command_protocol.CommandRequest], object]"
    ) -> "command_protocol.CommandRequest | None":
        """The command line with what was missing, if it is to be carried again. ``aside`` carries another one."""
        if source := self._requested_inputs.get(b"i"):
            from termvisor.frontends.cli.read_input import read_input

            return self._request.with_input(read_input(source))
        if not self._has_answerable_question:
            return None
        from termvisor.frontends.cli.confirm import ConfirmationRequest, ask_user

        parts = (self._requested_inputs.get(kind, b"") for kind in (b"q", b"n", b"t"))
        return ask_user(self._request, ConfirmationRequest(*parts), send_aside)

    @property
    def _has_answerable_question(self) -> bool:
        """Whether there is one, and somebody to answer it."""
        if not self._requested_inputs.keys() & {b"q", b"t"}:
            return False
        if self._can_ask_user is None:
            from termvisor.frontends.cli.confirm import can_ask_user

            self._can_ask_user = can_ask_user(self._request)
        return self._can_ask_user


def _discard_output(_kind: bytes, _data: bytes) -> None:
    """For what is said to the daemon beside the point."""


def _open_private_file(path: bytes) -> int:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    if os.path.isfile(path):
        os.fchmod(descriptor, 0o600)
    return descriptor


def exchange(path: str, request: command_protocol.CommandRequest, deliver: "Callable[[bytes, bytes], None]") -> int:
    """Ask the daemon; its output goes to ``deliver`` as (kind of frame, bytes)."""
    line = connect_socket(path)
    if line is None:
        return NO_DAEMON
    came_back = NO_DAEMON  # one that hangs up without a word is just ending: a new one may answer
    try:
        for kind, number, body in _read_frames(line, request):
            came_back = CONNECTION_LOST
            if kind == b"x":
                return number
            if kind == b"l":
                return RUN_LOCALLY
            if body:
                deliver(kind, body)
        return came_back
    finally:
        line.close()


def _read_frames(sock: "socket", request: command_protocol.CommandRequest) -> "Iterator[tuple[bytes, int, bytes]]":
    """What the daemon answers. It must be heard soon; then it may take its time."""
    frames = command_protocol.FrameDecoder()
    sock.settimeout(_ACKNOWLEDGE_TIMEOUT_S)
    try:
        sock.sendall(command_protocol.encode_request(request))
        while data := sock.recv(1 << 16):
            sock.settimeout(None)
            yield from frames.feed(data)
    except (TimeoutError, command_protocol.MalformedCommand):
        yield b"?", 0, b""  # somebody is there, and it is no use to start another
    except ConnectionError:
        return


def write_all(descriptor: int, data: bytes) -> None:
    """All of it, also where the other side made the descriptor non-blocking."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            select.select([], [descriptor], [])
