"""`visor hook …` as an agent calls it: what came on stdin goes to the daemon, what it answers to stdout.

Invariant: it never fails and never hangs. Without a daemon, without word of it within two seconds, or without a clear
answer it prints nothing and ends with status 0; then the agent goes on as if there were no hook. It starts no daemon. A
daemon that falls silent while it waits for a person counts as none.

Imports nothing that costs time: an agent waits for it.
"""

from time import monotonic

from termvisor.frontends.cli.fast_client import write
from termvisor.frontends.cli.read_input import read
from termvisor.protocol import command_protocol as face
from termvisor.protocol.connect import dial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Iterator

HEARD_WITHIN = 2.0
"""Seconds in which the daemon must say that it heard."""
SILENT_FOR = 10.0
"""Seconds after which a daemon that says nothing, not even that it is still there, hangs."""
ANSWERED_WITHIN = 595.0
"""Seconds; agents end their hooks after 600."""


def run(path: str, argv: "tuple[str, ...]", heard_within: float = HEARD_WITHIN) -> int:
    """The exit status, which is always 0. ``path`` is the daemon's socket."""
    try:
        asked = face.Asked(argv, cwd="/").filled(read(b"-"))
        if answer := _answer(path, asked, heard_within):
            write(1, answer)
    except Exception:
        return 0  # whatever it was, it is no business of the agent's
    return 0


def _answer(path: str, asked: face.Asked, heard_within: float) -> bytes:
    """What the daemon has for stdout, if it says that all went well."""
    line = dial(path)
    if line is None:
        return b""
    out = b""
    try:
        for kind, number, body in _frames(line, asked, heard_within):
            if kind == b"x":
                return out if number == 0 else b""
            out += body if kind == b"o" else b""
        return b""
    finally:
        line.close()


def _frames(line: "socket", asked: face.Asked, heard_within: float) -> "Iterator[tuple[bytes, int, bytes]]":
    frames, ends_at = face.Frames(), monotonic() + ANSWERED_WITHIN
    line.settimeout(heard_within)
    line.sendall(face.encode(asked))
    while data := line.recv(1 << 16):
        yield from frames.feed(data)
        line.settimeout(max(0.001, min(SILENT_FOR, ends_at - monotonic())))
