"""`visor attach` on a terminal: the gate is asked and records it, then this process becomes tmux.

It goes to the daemon as a person's command line, so that it is judged like one.
"""

import os
from collections.abc import Callable

import msgspec

from termvisor.client.daemon_process import ensure_running
from termvisor.errors import BadRequest, MuxError, Unavailable
from termvisor.frontends.cli import fast_client
from termvisor.frontends.cli.terminal_info import detect_terminal
from termvisor.ops.api.arguments import render_arguments
from termvisor.ops.panes.attach import AttachArgs, AttachResult
from termvisor.protocol import command_protocol
from termvisor.settings import get_environment, resolve_paths


class _AttachAnswer(msgspec.Struct):
    data: AttachResult | None = None


def run(args: AttachArgs) -> int:
    return attach_terminal(
        ("attach", *render_arguments(args)), lambda answer: msgspec.json.decode(answer, type=_AttachAnswer).data
    )


def attach_terminal(argv: tuple[str, ...], read_target: Callable[[bytes], AttachResult | None]) -> int:
    """Ask with these words; ``way`` reads from the JSON answer how to get there. Without one, a person is answered."""
    where = resolve_paths()
    ensure_running(where)
    heard: list[bytes] = []
    asked = command_protocol.CommandRequest((argv[0], "--json", *argv[1:]), False, os.getcwd(), detect_terminal())
    status = fast_client.exchange(where.daemon_socket, asked, lambda _kind, data: heard.append(data))
    if status < 0:
        raise Unavailable("the daemon did not finish its answer")
    attached = read_target(b"".join(heard) or b"{}")
    if attached is None or not attached.outside:
        return fast_client.send_command(
            where.daemon_socket, command_protocol.CommandRequest(argv, False, os.getcwd(), detect_terminal())
        )
    command = choose_tmux_command(attached, get_environment().get("TMUX", ""))
    try:
        os.execvp(command[0], command)  # noqa: S606 - no shell is wanted
    except OSError as error:
        raise MuxError(f"tmux cannot be started: {error.strerror}") from error


def choose_tmux_command(attached: AttachResult, current_tmux: str) -> tuple[str, ...]:
    """The program to become: a terminal that shows the same server switches, one that shows another cannot."""
    socket = current_tmux.partition(",")[0]
    if not socket:
        return attached.outside
    if os.path.realpath(socket) == os.path.realpath(attached.socket):
        return attached.inside
    raise BadRequest(
        "this terminal shows another tmux server, and tmux does not nest",
        hint="Detach first (C-b d), or do it in another terminal.",
    )
