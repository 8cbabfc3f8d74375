"""`visor hook …` as an agent calls it: what came on stdin goes to the daemon, what it answers to stdout.

Invariant: it never fails and never hangs. Without a daemon, without word of it within two seconds, or without a clear
answer it prints nothing and ends with status 0; then the agent goes on as if there were no hook. It starts no daemon. A
daemon that falls silent while it waits for a person counts as none.

Imports nothing that costs time: an agent waits for it.
"""

from time import monotonic

from termvisor.frontends.cli.fast_client import write_all
from termvisor.frontends.cli.read_input import read_input
from termvisor.protocol import command_protocol
from termvisor.protocol.connect import connect_socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Iterator

ACKNOWLEDGE_TIMEOUT_S = 2.0
"""Seconds in which the daemon must say that it heard."""
SILENCE_TIMEOUT_S = 10.0
"""Seconds after which a daemon that says nothing, not even that it is still there, hangs."""
ANSWER_TIMEOUT_S = 595.0
"""Seconds; agents end their hooks after 600."""


def run_hook(path: str, argv: "tuple[str, ...]", acknowledge_timeout_s: float = ACKNOWLEDGE_TIMEOUT_S) -> int:
    """The exit status, which is always 0. ``path`` is the daemon's socket."""
    try:
        asked = command_protocol.CommandRequest(argv, cwd="/").with_input(read_input(b"-"))
        if answer := _request_answer(path, asked, acknowledge_timeout_s):
            write_all(1, answer)
    except Exception:
        return 0  # whatever it was, it is no business of the agent's
    return 0


def _request_answer(path: str, request: command_protocol.CommandRequest, acknowledge_timeout_s: float) -> bytes:
    """What the daemon has for stdout, if it says that all went well."""
    line = connect_socket(path)
    if line is None:
        return b""
    out = b""
    try:
        for kind, number, body in _read_frames(line, request, acknowledge_timeout_s):
            if kind == b"x":
                return out if number == 0 else b""
            out += body if kind == b"o" else b""
        return b""
    finally:
        line.close()


def _read_frames(
    sock: "socket", request: command_protocol.CommandRequest, acknowledge_timeout_s: float
) -> "Iterator[tuple[bytes, int, bytes]]":
    frames, ends_at = command_protocol.FrameDecoder(), monotonic() + ANSWER_TIMEOUT_S
    sock.settimeout(acknowledge_timeout_s)
    sock.sendall(command_protocol.encode_request(request))
    while data := sock.recv(1 << 16):
        yield from frames.feed(data)
        sock.settimeout(max(0.001, min(SILENCE_TIMEOUT_S, ends_at - monotonic())))
