"""`visor up`: start the daemon when none runs, and show the fleet; live on a terminal, once elsewhere."""

import os
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.client.daemon_process import ensure_running, is_running
from termvisor.daemon.lifecycle import find_recorder_pid
from termvisor.frontends.cli.fast_client import write_all
from termvisor.frontends.cli.terminal_info import detect_terminal
from termvisor.frontends.demo import server
from termvisor.frontends.demo.scenes import DEMO_SCENES
from termvisor.frontends.tui import live_table, pane_table
from termvisor.settings import Paths, load_settings, resolve_paths
from termvisor.system.polling import wait_until

_DEMO_TIMEOUT_S = 5.0
_CAPTURE_TIMEOUT_S = 2.0
"""Seconds that a new daemon is given to hear its panes, before they are shown once."""


class UpCommandArgs(Struct, frozen=True, kw_only=True):
    """How to show the fleet."""

    demo_if_empty: Annotated[bool, Meta(description="Start the demo when there are no panes.")] = False
    once: Annotated[bool, Meta(description="Show the panes once, also on a terminal.")] = False
    interval: Annotated[float, Meta(description="Seconds between two looks.", ge=0.1, le=3600)] = 1.0


def run(args: UpCommandArgs) -> int:
    where = resolve_paths()
    settings = load_settings(where)
    was_running = is_running(where)
    daemon = ensure_running(where)
    if args.demo_if_empty and _count_panes(where) == 0:
        server.start_demo(where, settings)
        wait_until(lambda: _count_panes(where) >= len(DEMO_SCENES), _DEMO_TIMEOUT_S, interval_s=0.1)
    seen = detect_terminal()
    if seen.is_terminal and os.isatty(0) and not args.once:
        live_table.run_live_table(where, args.interval, colour=seen.colour)
    else:
        if not was_running:
            wait_until(lambda: _has_captured_all(where), _CAPTURE_TIMEOUT_S, interval_s=0.1)
        shown = pane_table.build_view(where, seen)
        write_all(1, "\n".join([shown.head, "", shown.title, *shown.rows, "", shown.foot, ""]).encode())
    write_all(1, render_still_running(where, daemon.pid).encode())
    return 0


def render_still_running(paths: Paths, daemon_pid: int) -> str:
    """The last line: what goes on without us, and how to end it."""
    recorder = find_recorder_pid(paths)
    parts = [
        f"daemon (pid {daemon_pid})",
        *([f"recorder (pid {recorder})"] if recorder is not None else []),
        *(["demo tmux server"] if server.is_running(paths) else []),
    ]
    return f"Still running: {', '.join(parts)}. Stop with `visor down`.\n"


def _has_captured_all(paths: Paths) -> bool:
    """Whether every pane is listened to; before that, all that can be said of one is that something is missing."""
    items = pane_table.call_daemon(paths, "list_panes")["items"]
    return all(one["heard_by"] != "none" and one["activity"]["kind"] != "gap" for one in items)


def _count_panes(paths: Paths) -> int:
    return len(pane_table.call_daemon(paths, "list_panes")["items"])
