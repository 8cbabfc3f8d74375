"""Which process is a Cursor agent: a script that a node of its own runs, under the name of the command."""

import re
from collections.abc import Sequence

from termvisor.agents.base import Process
from termvisor.agents.launch import Launch

LAUNCH = Launch(
    names=frozenset({"cursor-agent"}),
    script=r"/cursor-agent/(?:versions/[^/]+/)?index\.js$",
    errands=frozenset(
        {
            "login",
            "logout",
            "status",
            "whoami",
            "models",
            "update",
            "upgrade",
            "mcp",
            "about",
            "ls",
            "create-chat",
            "generate-rule",
            "rule",
        }
    ),
)
_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def recognise(processes: Sequence[Process]) -> Process | None:
    return LAUNCH.found(processes)


def is_session(text: str) -> bool:
    return _SESSION.fullmatch(text) is not None
