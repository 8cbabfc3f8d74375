"""Find the files that a Claude Code process writes: its registry entry and the transcripts of its project."""

import posixpath
import re

from termvisor.agents.adapters.adapter import ProcessInfo, WatchedPath
from termvisor.agents.adapters.claude_code.transcript import SUBAGENT_SOURCE
from termvisor.model.agent.signal import ProcessHint

ENV_NAMES = ("HOME", "CLAUDE_CONFIG_DIR")
_MAX_FOLDER_NAME_CHARS = 200
"""Longest folder name; Claude Code appends a checksum to a longer one."""
_NON_ALPHANUMERIC = re.compile(r"[^a-zA-Z0-9]")


def find_config_folder(process: ProcessInfo) -> str:
    """Return the configuration folder; empty if unknown."""
    if folder := process.env.get("CLAUDE_CONFIG_DIR", ""):
        return posixpath.normpath(posixpath.join(process.cwd, folder))
    home = process.env.get("HOME", "")
    return posixpath.join(home, ".claude") if home else ""


def encode_project_folder(cwd: str) -> str:
    """Return the name of the folder with the transcripts of a working directory; empty if it is too long."""
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
    """Return the transcripts of all sessions in this directory, without a process: `/clear` changes the session.

    Sub-agents write their own files in a subfolder of the session.
    """
    transcripts = posixpath.join(folder, "projects", project)
    hint = ProcessHint(cwd=cwd)
    return [
        WatchedPath(source="transcript", kind="lines", folder=transcripts, pattern="*.jsonl", hint=hint),
        WatchedPath(
            source=SUBAGENT_SOURCE,
            kind="lines",
            folder=transcripts,
            pattern="agent-*.jsonl",
            is_deep=True,
            hint=hint,
        ),
    ]
