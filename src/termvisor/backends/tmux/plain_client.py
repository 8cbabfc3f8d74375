"""Send commands to a tmux server by running `tmux` once for each request.

Used for the first contact with a server, and for servers that the native client must not or cannot talk to.
"""

import asyncio
from collections.abc import Callable

from termvisor.backends.tmux.commands import (
    TmuxCommand,
    TmuxReply,
    generate_token,
    render_argv,
    render_script,
    split_output,
)
from termvisor.backends.tmux.native_client import REPLY_TIMEOUT_S
from termvisor.errors import MuxError
from termvisor.system.subprocesses import run_and_capture

# tmux refuses a command line that does not fit into one message of 16 KB.
_MAX_ARGV_BYTES = 16_000


class PlainClient:
    """A client that runs `tmux` for each request.

    Once ``server_pid`` is set, a request raises MuxError if another server listens on the socket.
    """

    kind = "plain"

    def __init__(self, program: str, socket: str, count_fork: Callable[[], None]):
        # -N: without it, tmux would start a server on a stale socket.
        self._argv = [program, "-N", "-S", socket]
        self._count_fork = count_fork
        self.server_pid: int | None = None

    async def request(self, *commands: TmuxCommand, stdin: bytes = b"") -> TmuxReply:
        token = generate_token()
        proof = TmuxCommand("display-message", "-p", f"{token} #{{pid}}")
        argv = render_argv([proof, *commands])
        if sum(len(word.encode()) + 1 for word in argv) > _MAX_ARGV_BYTES:
            if stdin:
                raise MuxError("the tmux command is too long")
            argv, stdin = ["source-file", "-"], f"{render_script([proof])}\n{render_script(commands)}\n".encode()
        self._count_fork()
        status, out, errors = await asyncio.to_thread(
            run_and_capture, [*self._argv, *argv], stdin=stdin, timeout_s=REPLY_TIMEOUT_S
        )
        error = errors.decode("utf-8", "replace").strip()
        head, _, output = out.partition(b"\n")
        words = head.split(b" ")
        if words[0] != token.encode() or len(words) != 2:
            raise MuxError(f"tmux reported: {error or f'exit status {status}'}")
        if self.server_pid not in (None, int(words[1])):
            raise MuxError("another tmux server took over this socket")
        return TmuxReply(split_output(output), error)

    def close(self) -> None:
        """Do nothing, because no process is kept running."""
