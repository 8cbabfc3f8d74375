"""Declare the adapter for Claude Code, by Anthropic: its evidence sources, its process and the files it writes.

Evidence sources: a registry file for each process (the best source; needs no setup), hooks, the transcript, OSC 7501 if
the terminal requested it, and its screens as independent evidence.

The process is the native program `claude`; the npm package starts it with a node script, or is itself one. A file named
`claude`, or a subcommand without a conversation (`claude mcp list`), is not an agent.
"""

import posixpath
import re
from collections.abc import Sequence

from termvisor.agents.adapters.adapter import FULL_CAPABILITIES, ProcessInfo, WatchedPath
from termvisor.agents.adapters.claude_code import hooks, registry, screen, terminal_signals, transcript
from termvisor.agents.adapters.command_line import SessionResume, get_script_arguments, split_words
from termvisor.agents.adapters.composed_adapter import ComposedAdapter
from termvisor.model.agent.evidence import (
    HEURISTIC_SOURCES,
    OSC_SOURCE,
    build_native_source,
    build_transcript_source,
)
from termvisor.model.agent.signal import ProcessHint

PROGRAM_NAME = "claude"
_SCRIPT_PATTERN = r"/@anthropic-ai/claude-code(?:-[a-z0-9-]+)?/(?:cli|cli-wrapper|bin/claude)\S*$|/\.?bin/claude$"
# The native installer names the program after its version.
_INSTALLED_PATH = re.compile(r"/claude/versions/[\w.+-]+$|/@anthropic-ai/claude-code[\w-]*/\S*claude(?:\.exe)?$")
# Subcommands that do not start a conversation.
NON_AGENT_COMMANDS = split_words(
    "agents auth auto-mode config daemon doctor gateway import install kill login logout logs mcp "
    "migrate-installer plugin plugins purge respawn rm setup-token stop ultrareview update upgrade"
)
_INFO_OPTIONS = frozenset({"-h", "--help", "-v", "--version"})
_PRINT_OPTIONS = frozenset({"-p", "--print"})
# Works only in the folder where the session was started.
SESSION_RESUME = SessionResume(("claude", "--resume", "{}"))
# Maximum length of a folder name. Claude Code appends a checksum to longer ones.
_MAX_FOLDER_NAME_CHARS = 200
_NON_ALPHANUMERIC = re.compile(r"[^a-zA-Z0-9]")


def find_process(processes: Sequence[ProcessInfo]) -> ProcessInfo | None:
    """Return the agent process, preferring an interactive one, and the program over the script that starts it."""
    agents = [process for process in processes if _is_claude(process) and _is_agent(get_arguments(process))]
    # The npm package's script only starts the program and waits for it.
    return min(agents, key=lambda process: (_is_unattended(process), _is_script(process)), default=None)


def get_arguments(process: ProcessInfo) -> tuple[str, ...]:
    """Return the arguments after the program, or after the runtime and its script."""
    arguments = get_script_arguments(process, _SCRIPT_PATTERN)
    return process.argv[1:] if arguments is None else arguments


def find_resumed_session(process: ProcessInfo) -> str:
    return SESSION_RESUME.find_resumed_session(("-r", "--resume"), get_arguments(process))


def _is_script(process: ProcessInfo) -> bool:
    """Return True if the process is a script run by node or a similar runtime."""
    return get_script_arguments(process, _SCRIPT_PATTERN) is not None


def _is_claude(process: ProcessInfo) -> bool:
    return _is_native(process) or _is_script(process)


def _is_native(process: ProcessInfo) -> bool:
    """Return True for a process named `claude`. argv, which a process may change, must agree with its name."""
    path = process.argv[0].removesuffix(" (deleted)") if process.argv else ""
    name = posixpath.basename(path)
    is_named = name in (PROGRAM_NAME, f"{PROGRAM_NAME}.exe") or _INSTALLED_PATH.search(path) is not None
    if not process.program:
        return is_named
    # The kernel truncates process names to 15 characters.
    return process.program == PROGRAM_NAME or (is_named and process.program == name[:15])


def _is_agent(arguments: Sequence[str]) -> bool:
    # The first argument is a subcommand or the prompt.
    first = next(iter(arguments), "")
    return first not in NON_AGENT_COMMANDS and not _INFO_OPTIONS.intersection(arguments)


def _is_unattended(process: ProcessInfo) -> bool:
    return bool(_PRINT_OPTIONS.intersection(get_arguments(process)))


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
    registry_file = WatchedPath(
        source="registry",
        kind="files",
        folder=posixpath.join(folder, "sessions"),
        pattern=f"{process.pid}.json",
        hint=ProcessHint(pid=process.pid, pid_started=process.pid_started),
    )
    project = encode_project_folder(process.cwd)
    return [registry_file, *(_list_transcript_paths(folder, project, process.cwd) if project else [])]


def _list_transcript_paths(folder: str, project: str, cwd: str) -> list[WatchedPath]:
    """Return the transcripts of all sessions in this directory, tied to no process: `/clear` changes the session.

    Sub-agents write their own files in a subfolder of the session.
    """
    transcripts = posixpath.join(folder, "projects", project)
    hint = ProcessHint(cwd=cwd)
    return [
        WatchedPath(source="transcript", kind="lines", folder=transcripts, pattern="*.jsonl", hint=hint),
        WatchedPath(
            source=transcript.SUBAGENT_SOURCE,
            kind="lines",
            folder=transcripts,
            pattern="agent-*.jsonl",
            is_deep=True,
            hint=hint,
        ),
    ]


ADAPTER = ComposedAdapter(
    name="claude_code",
    capabilities=FULL_CAPABILITIES | {"native_approve"},
    sources=(
        build_native_source("registry", 2, blind_to=("error", "completed", "waiting_input")),
        OSC_SOURCE,
        # Older versions report a failed turn like a completed one.
        build_native_source("hook", 3, has_holes=True, blind_to=("error",)),
        build_transcript_source("transcript", 4),
        build_transcript_source(transcript.SUBAGENT_SOURCE, 5),
        *HEURISTIC_SOURCES,
    ),
    env_names=("HOME", "CLAUDE_CONFIG_DIR"),
    process_finder=find_process,
    title_matcher=terminal_signals.matches_title,
    path_lister=list_watched_paths,
    readers={
        "registry": registry.read_registry,
        "osc": terminal_signals.read_osc,
        "hook": hooks.read_hook,
        "transcript": transcript.read_transcript,
        transcript.SUBAGENT_SOURCE: transcript.read_subagent_transcript,
        "title": terminal_signals.read_title,
    },
    transcript_readers={"transcript": transcript.read_transcript_text},
    screen_classifier=screen.SCREEN_CLASSIFIER,
    package_names=("@anthropic-ai/claude-code",),
    session_resume=SESSION_RESUME,
    resumed_session_finder=find_resumed_session,
)
