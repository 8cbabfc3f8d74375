"""Recognize the interactive Copilot process and find its event log."""

import posixpath

from termvisor.agents.adapters.adapter import ProcessInfo, WatchedPath
from termvisor.agents.adapters.command_line import ProgramMatcher, SessionResume
from termvisor.model.agent.signal import ProcessHint

ENV_NAMES = ("HOME", "COPILOT_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
PROGRAM_MATCHER = ProgramMatcher(
    program_names=frozenset({"copilot"}),
    script_pattern=r"/@github/copilot(?:-[a-z0-9-]+)?/\S*\.js$|/\.?bin/copilot$",
    non_agent_commands=frozenset(
        {"--acp", "--server", "completion", "init", "login", "logout", "mcp", "plugin", "skill", "update"}
    ),
)
SESSION_RESUME = SessionResume(("copilot", "--resume={}"))


def list_watched_paths(process: ProcessInfo) -> list[WatchedPath]:
    """Return the event log of the session whose folder contains the lock file of this process."""
    copilot_home, home = process.env.get("COPILOT_HOME", ""), process.env.get("HOME", "")
    if copilot_home:
        folder = posixpath.join(process.cwd, copilot_home)
    elif home:
        folder = posixpath.join(home, ".copilot")
    else:
        return []
    event_log = WatchedPath(
        source="session_file",
        kind="lines",
        folder=posixpath.join(folder, "session-state"),
        pattern="events.jsonl",
        required_sibling=f"inuse.{process.pid}.lock",
        is_deep=True,
        from_start=True,
        hint=ProcessHint(pid=process.pid, pid_started=process.pid_started),
    )
    return [event_log]


def find_resumed_session(process: ProcessInfo) -> str:
    return SESSION_RESUME.find_resumed_session(("--resume",), PROGRAM_MATCHER.get_arguments(process) or ())
