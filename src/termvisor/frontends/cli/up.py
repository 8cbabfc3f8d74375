"""`visor up`: start the daemon when none runs, and show the fleet; live on a terminal, once elsewhere."""

import os
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.client.daemon_process import ensure_running, is_running
from termvisor.daemon.lifecycle import recorder_pid
from termvisor.frontends.cli.fast_client import write
from termvisor.frontends.cli.terminal_info import look
from termvisor.frontends.demo import server
from termvisor.frontends.demo.scenes import SCENES
from termvisor.frontends.tui import fleet_table as fleet
from termvisor.frontends.tui import live_table as live
from termvisor.settings import Places, load, places
from termvisor.system.polling import until

_DEMO_SEEN_WITHIN = 5.0
_HEARD_WITHIN = 2.0
"""Seconds that a new daemon is given to hear its panes, before they are shown once."""


class Up(Struct, frozen=True, kw_only=True):
    """How to show the fleet."""

    demo_if_empty: Annotated[bool, Meta(description="Start the demo when there are no panes.")] = False
    once: Annotated[bool, Meta(description="Show the panes once, also on a terminal.")] = False
    interval: Annotated[float, Meta(description="Seconds between two looks.", ge=0.1, le=3600)] = 1.0


def run(wanted: Up) -> int:
    where = places()
    settings = load(where)
    was_running = is_running(where)
    daemon = ensure_running(where)
    if wanted.demo_if_empty and _panes(where) == 0:
        server.start(where, settings)
        until(lambda: _panes(where) >= len(SCENES), _DEMO_SEEN_WITHIN, every=0.1)
    seen = look()
    if seen.is_terminal and os.isatty(0) and not wanted.once:
        live.watch(where, wanted.interval, colour=seen.colour)
    else:
        if not was_running:
            until(lambda: _are_heard(where), _HEARD_WITHIN, every=0.1)
        shown = fleet.view(where, seen)
        write(1, "\n".join([shown.head, "", shown.title, *shown.rows, "", shown.foot, ""]).encode())
    write(1, still_running(where, daemon.pid).encode())
    return 0


def still_running(where: Places, daemon: int) -> str:
    """The last line: what goes on without us, and how to end it."""
    recorder = recorder_pid(where)
    parts = [
        f"daemon (pid {daemon})",
        *([f"recorder (pid {recorder})"] if recorder is not None else []),
        *(["demo tmux server"] if server.is_running(where) else []),
    ]
    return f"Still running: {', '.join(parts)}. Stop with `visor down`.\n"


def _are_heard(where: Places) -> bool:
    """Whether every pane is listened to; before that, all that can be said of one is that something is missing."""
    items = fleet.call(where, "list_panes")["items"]
    return all(one["heard_by"] != "none" and one["activity"]["kind"] != "gap" for one in items)


def _panes(where: Places) -> int:
    return len(fleet.call(where, "list_panes")["items"])
