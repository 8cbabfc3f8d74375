"""Run `visor attach` and `visor next --go` in a terminal: ask the gate, then replace this process with tmux.

The request goes to the daemon as a user's command line, so that the policy for users applies.
"""

import os
from collections.abc import Callable

import msgspec

from termvisor.client.daemon_process import ensure_running
from termvisor.errors import BadRequest, MuxError, Unavailable
from termvisor.frontends.cli import fast_client
from termvisor.frontends.cli.terminal_info import detect_terminal
from termvisor.ops.agents.next import NextArgs
from termvisor.ops.api.arguments import render_arguments
from termvisor.ops.panes.attach import AttachArgs, AttachResult
from termvisor.protocol import command_protocol
from termvisor.settings import get_environment, resolve_paths


class AttachAnswer(msgspec.Struct):
    data: AttachResult | None = None


def run_attach(args: AttachArgs) -> int:
    return attach_terminal(
        ("attach", *render_arguments(args)), lambda answer: msgspec.json.decode(answer, type=AttachAnswer).data
    )


def attach_terminal(argv: tuple[str, ...], read_target: Callable[[bytes], AttachResult | None]) -> int:
    """Run a command line and attach to the pane that ``read_target`` extracts from its JSON answer.

    Without a target, the command line runs again with text output, which shows the error.
    """
    paths = resolve_paths()
    ensure_running(paths)
    output: list[bytes] = []
    request = command_protocol.CommandRequest(
        (argv[0], "--json", "--full", *argv[1:]), False, os.getcwd(), detect_terminal()
    )
    status = fast_client.exchange(paths.daemon_socket, request, lambda _kind, data: output.append(data))
    if status < 0:
        raise Unavailable("the daemon closed the connection before it answered")
    attached = read_target(b"".join(output) or b"{}")
    if attached is None or not attached.outside:
        text_request = command_protocol.CommandRequest(argv, False, os.getcwd(), detect_terminal())
        return fast_client.send_command(paths.daemon_socket, text_request)
    command = choose_tmux_command(attached, get_environment().get("TMUX", ""))
    try:
        # Replace this process, so that tmux owns the terminal and its exit status becomes ours.
        os.execvp(command[0], command)  # noqa: S606 - no shell is wanted
    except OSError as error:
        raise MuxError(f"cannot run tmux: {error.strerror}") from error


def choose_tmux_command(attached: AttachResult, current_tmux: str) -> tuple[str, ...]:
    """Return the tmux command: attach, or switch the client if this terminal already shows that server.

    Raises BadRequest if this terminal shows another tmux server.
    """
    socket = current_tmux.partition(",")[0]
    # Our own viewer runs anywhere, also inside tmux.
    if not socket or attached.outside == attached.inside:
        return attached.outside
    # TMUX may contain another path to the same socket, through a symbolic link.
    if os.path.realpath(socket) == os.path.realpath(attached.socket):
        return attached.inside
    raise BadRequest(
        "this terminal shows another tmux server, and tmux does not nest",
        hint="Detach first (C-b d), or use another terminal.",
    )


class _NextAgent(msgspec.Struct):
    attached: AttachResult | None = None


class _NextAnswer(msgspec.Struct):
    data: _NextAgent | None = None


def run_next(args: NextArgs) -> int:
    """Attach to the pane of the agent that needs the user most."""
    return attach_terminal(("next", *render_arguments(args)), read_attach_target)


def read_attach_target(answer: bytes) -> AttachResult | None:
    """Return the pane to attach to; None if no agent needs the user."""
    agent = msgspec.json.decode(answer, type=_NextAnswer).data
    return None if agent is None else agent.attached
