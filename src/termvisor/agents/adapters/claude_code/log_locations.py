"""Where a Claude Code process leaves word on disk."""

import posixpath
import re

from termvisor.agents.adapters.adapter import Process, Watch
from termvisor.agents.adapters.claude_code.transcript import SUBAGENTS
from termvisor.model.agent.signal import Hint

ENV_NAMES = ("HOME", "CLAUDE_CONFIG_DIR")
_LONGEST = 200
"""Of a folder's name; for a longer path it puts a checksum behind."""
_OTHER = re.compile(r"[^a-zA-Z0-9]")


def config_folder(process: Process) -> str:
    """Empty where it cannot be known."""
    if own := process.env.get("CLAUDE_CONFIG_DIR", ""):
        return posixpath.normpath(posixpath.join(process.cwd, own))
    home = process.env.get("HOME", "")
    return posixpath.join(home, ".claude") if home else ""


def project_folder(cwd: str) -> str:
    """How it calls the folder of all transcripts of a working directory; empty where the name is too long to tell."""
    name = _OTHER.sub("-", cwd)
    return name if len(name) <= _LONGEST else ""


def watches(process: Process) -> list[Watch]:
    folder = config_folder(process)
    if not folder:
        return []
    registry = Watch(
        source="registry",
        kind="files",
        folder=posixpath.join(folder, "sessions"),
        pattern=f"{process.pid}.json",
        hint=Hint(pid=process.pid, pid_started=process.pid_started),
    )
    project = project_folder(process.cwd)
    return [registry, *(_transcripts(folder, project, process.cwd) if project else [])]


def _transcripts(folder: str, project: str, cwd: str) -> list[Watch]:
    """Of all sessions in this directory: which one is its own changes with `/clear`. So they name no process.

    Sub-agents write files of their own, in a folder below that of their session.
    """
    where = posixpath.join(folder, "projects", project)
    return [
        Watch(source="transcript", kind="lines", folder=where, pattern="*.jsonl", hint=Hint(cwd=cwd)),
        Watch(source=SUBAGENTS, kind="lines", folder=where, pattern="agent-*.jsonl", is_deep=True, hint=Hint(cwd=cwd)),
    ]
