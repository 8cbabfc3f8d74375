"""Which process is a Gemini CLI: a script that node runs, started twice. The inner one talks and runs the hooks."""

import re
from collections.abc import Sequence

from termvisor.agents.base import Process
from termvisor.agents.launch import Launch

LAUNCH = Launch(
    names=frozenset({"gemini"}),
    script=r"/@google/gemini-cli/(?:bundle/|dist/)\S*\.js$|/bin/gemini$",
    errands=frozenset({"mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma"}),
)
_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def recognise(processes: Sequence[Process]) -> Process | None:
    return LAUNCH.found(processes)


def is_session(text: str) -> bool:
    return _SESSION.fullmatch(text) is not None
