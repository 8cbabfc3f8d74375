"""`visor attach` on a terminal: the gate is asked and records it, then this process becomes tmux.

It goes to the daemon as a person's command line, so that it is judged like one.
"""

import os

import msgspec

from termvisor.client.start import ensure_running
from termvisor.errors import BadRequest, MuxError, Unavailable
from termvisor.frontends import courier
from termvisor.frontends.human import look
from termvisor.ops.arguments import render
from termvisor.ops.attach import Attach, Attached
from termvisor.settings import environment, places
from termvisor.wire import face


class _Answer(msgspec.Struct):
    data: Attached | None = None


def run(wanted: Attach) -> int:
    where = places()
    ensure_running(where)
    heard: list[bytes] = []
    words = ("attach", "--json", *render(wanted))
    status = courier.collect(
        where.daemon_socket, face.Asked(words, False, os.getcwd(), look()), lambda _kind, data: heard.append(data)
    )
    answer = msgspec.json.decode(b"".join(heard) or b"{}", type=_Answer)
    if status < 0:
        raise Unavailable("the daemon did not finish its answer")
    if answer.data is None or not answer.data.outside:
        return courier.carry(where.daemon_socket, face.Asked(("attach", *render(wanted)), False, os.getcwd(), look()))
    command = chosen(answer.data, environment().get("TMUX", ""))
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
