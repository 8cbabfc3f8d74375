"""Where a Claude Code process leaves word on disk."""

import posixpath
import re

from termvisor.agents.adapters.adapter import ProcessInfo, WatchedPath
from termvisor.agents.adapters.claude_code.transcript import SUBAGENT_SOURCE
from termvisor.model.agent.signal import ProcessHint

ENV_NAMES = ("HOME", "CLAUDE_CONFIG_DIR")
_MAX_FOLDER_NAME_CHARS = 200
"""Of a folder's name; for a longer path it puts a checksum behind."""
_NON_ALPHANUMERIC = re.compile(r"[^a-zA-Z0-9]")


def find_config_folder(process: ProcessInfo) -> str:
    """Empty where it cannot be known."""
    if own := process.env.get("CLAUDE_CONFIG_DIR", ""):
        return posixpath.normpath(posixpath.join(process.cwd, own))
    home = process.env.get("HOME", "")
    return posixpath.join(home, ".claude") if home else ""


def encode_project_folder(cwd: str) -> str:
    """How it calls the folder of all transcripts of a working directory; empty where the name is too long to tell."""
    name = _NON_ALPHANUMERIC.sub("-", cwd)
    return name if len(name) <= _MAX_FOLDER_NAME_CHARS else ""


def list_watched_paths(process: ProcessInfo) -> list[WatchedPath]:
    folder = find_config_folder(process)
    if not folder:
        return []
    registry = WatchedPath(
        source="registry",
        kind="files",
        folder=posixpath.join(folder, "sessions"),
        pattern=f"{process.pid}.json",
        hint=ProcessHint(pid=process.pid, pid_started=process.pid_started),
    )
    project = encode_project_folder(process.cwd)
    return [registry, *(_list_transcript_paths(folder, project, process.cwd) if project else [])]


def _list_transcript_paths(folder: str, project: str, cwd: str) -> list[WatchedPath]:
    """Of all sessions in this directory: which one is its own changes with `/clear`. So they name no process.

    Sub-agents write files of their own, in a folder below that of their session.
    """
    where = posixpath.join(folder, "projects", project)
    return [
        WatchedPath(source="transcript", kind="lines", folder=where, pattern="*.jsonl", hint=ProcessHint(cwd=cwd)),
        WatchedPath(
            source=SUBAGENT_SOURCE,
            kind="lines",
            folder=where,
            pattern="agent-*.jsonl",
            is_deep=True,
            hint=ProcessHint(cwd=cwd),
        ),
    ]
