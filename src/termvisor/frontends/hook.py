"""Run `visor hook …` for an agent: send stdin to the daemon and print the answer.

Invariant: it never fails, hangs or starts a daemon. Without a daemon, an acknowledgement within two
seconds, heartbeats or a clear answer, it prints nothing and exits 0. The agent then continues as if there were
no hook.

Imports nothing slow, because an agent waits for it.
"""

from time import monotonic

from termvisor.frontends.cli.client_input import read_input
from termvisor.frontends.cli.fast_client import read_frames, write_all
from termvisor.protocol import command_protocol
from termvisor.protocol.unix_socket import connect_socket

# Short, because the agent is blocked meanwhile. A healthy daemon acknowledges within milliseconds.
ACKNOWLEDGE_TIMEOUT_S = 2.0
SILENCE_TIMEOUT_S = 10.0
"""Seconds without an answer or a heartbeat (sent every 2 s) after which the daemon counts as hung."""
ANSWER_TIMEOUT_S = 595.0
"""Agents kill their hooks after 600 s."""


def run_hook(path: str, argv: "tuple[str, ...]", acknowledge_timeout_s: float = ACKNOWLEDGE_TIMEOUT_S) -> int:
    """Run the hook and return its exit status, which is always 0. ``path`` is the daemon's socket."""
    try:
        request = command_protocol.CommandRequest(argv, cwd="/").with_input(read_input(b"-"))
        if answer := _request_answer(path, request, acknowledge_timeout_s):
            write_all(1, answer)
    except Exception:
        return 0  # an error in our code must not disturb the agent
    return 0


def _request_answer(path: str, request: command_protocol.CommandRequest, acknowledge_timeout_s: float) -> bytes:
    """Return the daemon's stdout output; empty unless the command succeeded."""
    sock = connect_socket(path)
    if sock is None:
        return b""
    deadline = monotonic() + ANSWER_TIMEOUT_S

    def get_timeout() -> float:
        return max(0.001, min(SILENCE_TIMEOUT_S, deadline - monotonic()))

    out = b""
    try:
        for kind, number, body in read_frames(sock, request, acknowledge_timeout_s, get_timeout):
            if kind == b"x":
                return out if number == 0 else b""
            # Hold the output until the exit status arrives, because an agent would act on half an answer.
            out += body if kind == b"o" else b""
        return b""
    finally:
        sock.close()
