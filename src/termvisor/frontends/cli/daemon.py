"""`visor daemon`: start, stop, restart the daemon, or say how it is."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.client.daemon_process import ensure_running, greet, is_running, stop
from termvisor.frontends.cli.fast_client import write
from termvisor.settings import Places, places

NOT_RUNNING = 3
"""The exit status of `status` when there is no daemon, as service managers know it."""


class Daemon(Struct, frozen=True, kw_only=True):
    """What to do with the daemon."""

    action: Annotated[
        Literal["start", "stop", "restart", "status"],
        Meta(description="What to do with it.", extra={"positional": "one"}),
    ] = "start"
    foreground: Annotated[bool, Meta(description="Be the daemon, for a supervisor; ends on SIGTERM.")] = False


def run(wanted: Daemon) -> int:
    return {"start": _start, "stop": _stop, "restart": _restart, "status": _status}[wanted.action](places())


def _start(where: Places) -> int:
    hello = ensure_running(where)
    return _say(f"The daemon is running (pid {hello.pid}, version {hello.version}). `visor down` stops it.")


def _stop(where: Places) -> int:
    pid = stop(where)
    return _say("No daemon was running." if pid is None else f"Stopped the daemon (pid {pid}).")


def _restart(where: Places) -> int:
    stop(where, keep_recorder=True)
    return _start(where)


def _status(where: Places) -> int:
    if hello := greet(where):
        return _say(f"running, pid {hello.pid}, version {hello.version}")
    _say("starting or stopping" if is_running(where) else "not running")
    return NOT_RUNNING


def _say(text: str) -> int:
    write(1, text.encode() + b"\n")
    return 0
