"""`visor attach` on a terminal: the gate is asked and records it, then this process becomes tmux.

It goes to the daemon as a person's command line, so that it is judged like one.
"""

import os
from collections.abc import Callable

import msgspec

from termvisor.client.daemon_process import ensure_running
from termvisor.errors import BadRequest, MuxError, Unavailable
from termvisor.frontends.cli import fast_client as courier
from termvisor.frontends.cli.terminal_info import look
from termvisor.ops.api.arguments import render
from termvisor.ops.panes.attach import Attach, Attached
from termvisor.protocol import command_protocol as face
from termvisor.settings import environment, places


class _Answer(msgspec.Struct):
    data: Attached | None = None


def run(wanted: Attach) -> int:
    return go(("attach", *render(wanted)), lambda answer: msgspec.json.decode(answer, type=_Answer).data)


def go(words: tuple[str, ...], way: Callable[[bytes], Attached | None]) -> int:
    """Ask with these words; ``way`` reads from the JSON answer how to get there. Without one, a person is answered."""
    where = places()
    ensure_running(where)
    heard: list[bytes] = []
    asked = face.Asked((words[0], "--json", *words[1:]), False, os.getcwd(), look())
    status = courier.collect(where.daemon_socket, asked, lambda _kind, data: heard.append(data))
    if status < 0:
        raise Unavailable("the daemon did not finish its answer")
    attached = way(b"".join(heard) or b"{}")
    if attached is None or not attached.outside:
        return courier.carry(where.daemon_socket, face.Asked(words, False, os.getcwd(), look()))
    command = chosen(attached, environment().get("TMUX", ""))
    try:
        os.execvp(command[0], command)  # noqa: S606 - no shell is wanted
    except OSError as error:
        raise MuxError(f"tmux cannot be started: {error.strerror}") from error


def chosen(attached: Attached, surrounding: str) -> tuple[str, ...]:
    """The program to become: a terminal that shows the same server switches, one that shows another cannot."""
    socket = surrounding.partition(",")[0]
    if not socket:
        return attached.outside
    if os.path.realpath(socket) == os.path.realpath(attached.socket):
        return attached.inside
    raise BadRequest(
        "this terminal shows another tmux server, and tmux does not nest",
        hint="Detach first (C-b d), or do it in another terminal.",
    )
