"""A pytest plug-in for the foreign suites: no test continues before the daemon captures the panes of its new session.

The suites' servers live for milliseconds, and a server is discovered within a second: without this nothing would be
tested. It runs in the suites' own environment, so it imports nothing of ours.
"""

import os
import time
from functools import wraps
from typing import Any

from libtmux import Server

LONGEST_WAIT_S = 5.0
REPORT = os.environ.get("WATCHED_SERVERS_REPORT", "")
"""File that gets one line for each session that was captured in time. Without it, no test waits."""


def wait_until_captured(session: Any) -> None:
    deadline = time.monotonic() + LONGEST_WAIT_S
    while time.monotonic() < deadline:
        flags = session.cmd("list-panes", "-s", "-F", "#{pane_pipe}").stdout
        if "0" not in flags:
            with open(REPORT, "a", encoding="utf-8") as report:
                report.write(f"{flags}\n")
            return
        time.sleep(0.02)


def pytest_configure() -> None:
    create_session = Server.new_session

    @wraps(create_session)  # otherwise its doctest would be lost
    def create_captured_session(self: Server, *args: Any, **kwargs: Any) -> Any:
        session = create_session(self, *args, **kwargs)
        wait_until_captured(session)
        return session

    if REPORT:
        Server.new_session = create_captured_session  # type: ignore[method-assign]
