"""Send a command line to the daemon and copy the answer to stdout and stderr.

Invariant: imports only modules that the interpreter loads at startup, because `visor robot` must start about as fast
as `python -c pass`. The daemon does all parsing and formatting.
"""

import os
import select

from termvisor.protocol import command_protocol
from termvisor.protocol.unix_socket import connect_socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Callable, Iterator, Mapping

NO_DAEMON = -1
"""No daemon can be reached, or a stopping daemon closed the connection without an answer."""
RUN_LOCALLY = -2
"""The daemon replied that this command needs no daemon."""
CONNECTION_LOST = -3
"""The daemon did not answer in time, or closed the connection before sending the exit status."""
# Longer than any pause of a healthy daemon. A daemon that has not acknowledged by then hangs.
_ACKNOWLEDGE_TIMEOUT_S = 10.0
CANNOT_WRITE_STATUS = 74
"""The exit status when the file for the answer cannot be opened or written."""


def get_socket_path(environ: "Mapping[str, str]") -> str:
    """Return `settings.resolve_paths().daemon_socket` without the slow import of settings."""
    runtime = environ.get("VISOR_RUNTIME_DIR") or (
        f"{environ['XDG_RUNTIME_DIR']}/termvisor" if environ.get("XDG_RUNTIME_DIR") else f"/tmp/termvisor-{os.getuid()}"  # noqa: S108 - private by its mode, and connect_socket checks the owner
    )
    return f"{os.path.abspath(runtime)}/daemon"


def get_config_path(environ: "Mapping[str, str]") -> str:
    """Return `settings.resolve_paths().config_file` without the slow import of settings."""
    home = environ.get("HOME") or os.path.expanduser("~")
    folder = environ.get("VISOR_CONFIG_DIR") or f"{environ.get('XDG_CONFIG_HOME') or home + '/.config'}/termvisor"
    return f"{os.path.abspath(folder)}/config.toml"


def send_command(path: str, request: command_protocol.CommandRequest) -> int:
    """Send a request and copy the answer to stdout and stderr. Return the exit status or a negative constant above."""
    output = OutputRouter(request)
    try:
        status = exchange(path, request, output.deliver)
    except OSError as error:
        # Report only errors with the output file here.
        if not output.has_file and not error.filename:
            raise  # stdout or stderr is closed
        text = f"visor: the answer cannot be written: {error.strerror}\nhint: Check the folder and its free space.\n"
        write_all(2, text.encode())
        return CANNOT_WRITE_STATUS
    retry = output.build_retry(lambda aside: exchange(path, aside, lambda _kind, _data: None))
    return status if retry is None else send_command(path, retry)


class OutputRouter:
    """Writes an answer to stdout, stderr or a file, and collects the inputs that the daemon requests from the client.

    Such inputs exist only on the client: a file, stdin, or the user at the terminal.
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
            if not self._has_answerable_question:  # the refusal is meant for clients without a user
                write_all(self._descriptors[kind], data)
        else:
            self._requested_inputs[kind] = self._requested_inputs.get(kind, b"") + data

    def build_retry(
        self, send_aside: "Callable[[command_protocol.CommandRequest], object]"
    ) -> "command_protocol.CommandRequest | None":
        """Return the request to send again, with the requested input; None if there is nothing to retry.

        ``send_aside`` sends another request, such as the denial of an approval.
        """
        if source := self._requested_inputs.get(b"i"):
            from termvisor.frontends.cli.client_input import read_input

            return self._request.with_input(read_input(source))
        if not self._has_answerable_question:
            return None
        from termvisor.frontends.cli.client_input import ConfirmationRequest, ask_user

        parts = (self._requested_inputs.get(kind, b"") for kind in (b"q", b"n", b"t", b"c"))
        return ask_user(self._request, ConfirmationRequest(*parts), send_aside)

    @property
    def _has_answerable_question(self) -> bool:
        """True if the daemon requested a confirmation and a user can give it."""
        if not self._requested_inputs.keys() & {b"q", b"t"}:
            return False
        if self._can_ask_user is None:
            from termvisor.frontends.cli.client_input import can_ask_user

            self._can_ask_user = can_ask_user(self._request)
        return self._can_ask_user


def _open_private_file(path: bytes) -> int:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    # The mode above applies only to new files. A device such as /dev/null keeps its mode.
    if os.path.isfile(path):
        os.fchmod(descriptor, 0o600)
    return descriptor


def exchange(path: str, request: command_protocol.CommandRequest, deliver: "Callable[[bytes, bytes], None]") -> int:
    """Send a request and pass its output to ``deliver`` as (frame kind, bytes). Returns the same as `send_command`."""
    try:
        sock = connect_socket(path)
    except OSError:
        # The caller connects once more, to start a daemon, and reports the error then, in the format of the command.
        sock = None
    if sock is None:
        return NO_DAEMON
    status = NO_DAEMON  # a daemon that closes without a frame is stopping, and a new one may answer
    try:
        for kind, number, body in _read_answer(sock, request):
            status = CONNECTION_LOST
            if kind == b"x":
                return number
            if kind == b"l":
                return RUN_LOCALLY
            if body:
                deliver(kind, body)
        return status
    finally:
        sock.close()


def _read_answer(sock: "socket", request: command_protocol.CommandRequest) -> "Iterator[tuple[bytes, int, bytes]]":
    """Yield the frames of an answer, without a timeout after the acknowledgement."""
    try:
        yield from read_frames(sock, request, _ACKNOWLEDGE_TIMEOUT_S)
    except (TimeoutError, command_protocol.MalformedCommand):
        yield b"?", 0, b""  # a daemon is running but hangs, so starting another one would not help
    # The daemon is stopping or crashed. The caller notices the missing exit status.
    except ConnectionError:
        return


def read_frames(
    sock: "socket",
    request: command_protocol.CommandRequest,
    acknowledge_timeout_s: float,
    get_timeout: "Callable[[], float | None]" = lambda: None,
) -> "Iterator[tuple[bytes, int, bytes]]":
    """Send a request and yield the frames of its answer as (kind, number, body).

    ``get_timeout`` returns the seconds to wait for more after each read. Raises TimeoutError, ConnectionError or
    MalformedCommand.
    """
    decoder = command_protocol.FrameDecoder()
    sock.settimeout(acknowledge_timeout_s)
    sock.sendall(command_protocol.encode_request(request))
    while data := sock.recv(1 << 16):
        # Set after every read, because the first timeout applies only to the acknowledgement.
        sock.settimeout(get_timeout())
        yield from decoder.feed(data)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes, even if another process made the descriptor non-blocking."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        # Programs that share the terminal may set O_NONBLOCK, which is a property of the open file, not of the process.
        except BlockingIOError:
            select.select([], [descriptor], [])
