"""Declare the adapter for GitHub Copilot CLI: its evidence sources, its process and the files it writes.

Evidence sources: a complete event log of each session, which needs no setup, with a lock file naming the process; and
hooks, which report less but start before the log (created with the first prompt) and can answer permission requests.
"""

import posixpath

from termvisor.agents.adapters.adapter import FULL_CAPABILITIES, ProcessInfo, WatchedPath
from termvisor.agents.adapters.command_line import ProgramMatcher, SessionResume
from termvisor.agents.adapters.composed_adapter import ComposedAdapter
from termvisor.agents.adapters.copilot import hooks, screen, transcript
from termvisor.model.agent.evidence import HEURISTIC_SOURCES, build_native_source
from termvisor.model.agent.signal import ProcessHint

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
        # The log is created with the first prompt, so its first lines are written before it can be watched.
        from_start=True,
        hint=ProcessHint(pid=process.pid, pid_started=process.pid_started),
    )
    return [event_log]


ADAPTER = ComposedAdapter(
    name="copilot",
    capabilities=FULL_CAPABILITIES | {"native_approve"},
    sources=(
        # Older versions report no permission request.
        build_native_source("session_file", 1, misses_dialogs=True),
        build_native_source("hook", 2, has_holes=True, misses_dialogs=True),
        *HEURISTIC_SOURCES,
    ),
    env_names=("HOME", "COPILOT_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"),
    process_finder=PROGRAM_MATCHER.find_agent,
    title_matcher=lambda title: title == "GitHub Copilot" or title.endswith(" - GitHub Copilot"),
    path_lister=list_watched_paths,
    readers={"session_file": transcript.read_session_event, "hook": hooks.read_hook},
    transcript_readers={"session_file": transcript.read_transcript_text},
    screen_classifier=screen.SCREEN_CLASSIFIER,
    package_names=("@github/copilot",),
    session_resume=SESSION_RESUME,
    resumed_session_finder=PROGRAM_MATCHER.build_session_finder(SESSION_RESUME, "--resume"),
)
