"""Run `visor daemon`: start, stop or restart the daemon, or print its status."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.client.daemon_process import ensure_running, fetch_hello, is_running, stop_daemon
from termvisor.frontends.cli.fast_client import write_all
from termvisor.settings import Paths, resolve_paths

NOT_RUNNING_STATUS = 3
"""The exit status of `status` without a daemon, as service managers expect it (LSB)."""


class DaemonCommandArgs(Struct, frozen=True, kw_only=True):
    action: Annotated[
        Literal["start", "stop", "restart", "status"],
        Meta(description="What to do.", extra={"positional": "one"}),
    ] = "start"
    foreground: Annotated[bool, Meta(description="Run in the foreground, for a supervisor; SIGTERM stops it.")] = False


def run(args: DaemonCommandArgs) -> int:
    return {"start": _start_daemon, "stop": _stop_daemon, "restart": _restart_daemon, "status": _print_status}[
        args.action
    ](resolve_paths())


def _start_daemon(paths: Paths) -> int:
    hello = ensure_running(paths)
    return _print_line(f"The daemon is running (pid {hello.pid}, version {hello.version}). `visor down` stops it.")


def _stop_daemon(paths: Paths) -> int:
    pid = stop_daemon(paths)
    return _print_line("No daemon was running." if pid is None else f"Stopped the daemon (pid {pid}).")


def _restart_daemon(paths: Paths) -> int:
    stop_daemon(paths, keep_recorder=True)
    return _start_daemon(paths)


def _print_status(paths: Paths) -> int:
    if hello := fetch_hello(paths):
        return _print_line(f"running, pid {hello.pid}, version {hello.version}")
    _print_line("starting or stopping" if is_running(paths) else "not running")
    return NOT_RUNNING_STATUS


def _print_line(text: str) -> int:
    write_all(1, text.encode() + b"\n")
    return 0
