"""Run `visor up`: start the daemon if needed and show all panes, live on a terminal, once elsewhere."""

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
"""Time for a new daemon to capture its panes before they are listed once."""


class UpCommandArgs(Struct, frozen=True, kw_only=True):
    demo_if_empty: Annotated[bool, Meta(description="Start the demo if there are no panes.")] = False
    once: Annotated[bool, Meta(description="Show the panes once, also on a terminal.")] = False
    interval: Annotated[float, Meta(description="Seconds between two refreshes.", ge=0.1, le=3600)] = 1.0


def run(args: UpCommandArgs) -> int:
    paths = resolve_paths()
    settings = load_settings(paths)
    was_running = is_running(paths)
    daemon = ensure_running(paths)
    if args.demo_if_empty and _count_panes(paths) == 0:
        server.start_demo(paths, settings)
        wait_until(lambda: _count_panes(paths) >= len(DEMO_SCENES), _DEMO_TIMEOUT_S, interval_s=0.1)
    terminal = detect_terminal()
    if terminal.is_terminal and os.isatty(0) and not args.once:
        live_table.run_live_table(paths, args.interval, colour=terminal.colour)
    else:
        if not was_running:
            wait_until(lambda: _has_captured_all(paths), _CAPTURE_TIMEOUT_S, interval_s=0.1)
        view = pane_table.build_view(paths, terminal)
        write_all(1, "\n".join([view.head, "", view.title, *view.rows, "", view.foot, ""]).encode())
    write_all(1, render_still_running(paths, daemon.pid).encode())
    return 0


def render_still_running(paths: Paths, daemon_pid: int) -> str:
    """Return the last line: the processes that keep running, and how to stop them."""
    recorder = find_recorder_pid(paths)
    parts = [
        f"daemon (pid {daemon_pid})",
        *([f"recorder (pid {recorder})"] if recorder is not None else []),
        *(["demo tmux server"] if server.is_running(paths) else []),
    ]
    return f"Still running: {', '.join(parts)}. Stop with `visor down`.\n"


def _has_captured_all(paths: Paths) -> bool:
    """Return True if every pane is captured; until then panes are only listed as gaps."""
    panes = pane_table.call_daemon(paths, "list_panes")["items"]
    return all(pane["heard_by"] != "none" and pane["activity"]["kind"] != "gap" for pane in panes)


def _count_panes(paths: Paths) -> int:
    return len(pane_table.call_daemon(paths, "list_panes")["items"])
