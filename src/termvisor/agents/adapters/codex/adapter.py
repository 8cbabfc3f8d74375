"""Declare the adapter for Codex, by OpenAI: its evidence sources, its process and the files it writes.

Evidence sources: OSC marks in its own pane; the app-server shared by all Codex processes, which reports every change
of every thread; and hooks, a notify program and rollout files, which name only the thread. `threads` proves which pane
a thread belongs to.

The shared app-server, started by the first Codex as a child process, is also named `codex` but is not an agent.
"""

import posixpath
from collections.abc import Sequence

from msgspec import Struct

from termvisor.agents.adapters.adapter import FULL_CAPABILITIES, ProcessInfo, WatchedPath
from termvisor.agents.adapters.codex import hooks, screen, server_messages, terminal_signals, transcript
from termvisor.agents.adapters.command_line import SessionResume, get_script_arguments, split_words
from termvisor.agents.adapters.composed_adapter import ComposedAdapter
from termvisor.agents.adapters.transcript_text import build_hook_transcript_reader
from termvisor.model.agent import evidence
from termvisor.model.agent.signal import ProcessHint

PROGRAM_NAME = "codex"
_OPTIONS_WITH_VALUE = split_words(
    "-c --config --enable --disable --remote --remote-auth-token-env -i --image -m --model "
    "--local-provider -p --profile -s --sandbox -C --cd --add-dir -a --ask-for-approval -o "
    "--output-last-message --output-schema --color --thread-source --cyber-access-program"
)
_INTERACTIVE_COMMANDS = frozenset({"resume", "fork", "agents"})
_BATCH_COMMANDS = frozenset({"exec", "e", "review"})
_NON_AGENT_COMMANDS = split_words(
    "login logout mcp mcp-server plugin app-server remote-control completion update doctor sandbox debug "
    "apply a queue archive unarchive delete migrate-rollouts migrate-nfs-db cloud exec-server features "
    "help"
)
_WRAPPER_PATTERN = r"/@openai/codex/bin/codex\.js$|/\.?bin/codex$"
SESSION_RESUME = SessionResume(("codex", "resume", "{}"))
_INFO_OPTIONS = frozenset({"-h", "--help", "-V", "--version"})
_JSON_OPTIONS = frozenset({"--json", "--experimental-json"})
_OWN_SERVER_OPTIONS = frozenset({"--no-daemon", "--remote", "--dangerously-bypass-hook-trust"})


class CodexCommandLine(Struct, frozen=True, kw_only=True):
    """The relevant parts of a command line."""

    subcommand: str = ""
    """Empty if there is none, or if a prompt is in its place."""
    arguments: tuple[str, ...] = ()
    """Positional arguments after the subcommand."""
    folder: str = ""
    """Value of `--cd`."""
    uses_own_server: bool = False
    """True if an option selects a private or remote server instead of the shared one."""
    prints_json: bool = False
    """`--json` was given."""


def find_process(processes: Sequence[ProcessInfo]) -> ProcessInfo | None:
    """Return the agent process: the program itself or, without one, the node script that starts it."""
    programs = [process for process in processes if _is_native(process) or _is_wrapper(process)]
    agents = [process for process in programs if _is_agent(_get_arguments(process))]
    # The script only waits for the program that it started.
    return min(agents, key=_is_wrapper, default=None)


def parse_command_line(process: ProcessInfo) -> CodexCommandLine:
    return _parse_arguments(_get_arguments(process))


def find_codex_home(process: ProcessInfo) -> str:
    """Return the folder with the settings and sessions of this process; empty if unknown."""
    if codex_home := process.env.get("CODEX_HOME", ""):
        return codex_home
    home = process.env.get("HOME", "")
    return posixpath.join(home, ".codex") if home else ""


def find_working_folder(process: ProcessInfo) -> str:
    """Return the folder in which the process starts threads."""
    return posixpath.normpath(posixpath.join(process.cwd, parse_command_line(process).folder)) if process.cwd else ""


def find_resumed_session(process: ProcessInfo) -> str:
    """Return the thread that the command line resumes; empty if there is none. A forked thread gets a new id."""
    command_line = parse_command_line(process)
    arguments, is_resume = command_line.arguments, command_line.subcommand == "resume"
    if command_line.subcommand in ("exec", "e") and arguments[:1] == ("resume",):
        arguments, is_resume = arguments[1:], True
    return arguments[0] if is_resume and arguments and SESSION_RESUME.is_session(arguments[0]) else ""


def uses_shared_server(process: ProcessInfo) -> bool:
    """Return False if the command line rules out the shared server. A setting, not visible here, may do so as well."""
    command_line = parse_command_line(process)
    return not command_line.uses_own_server and command_line.subcommand not in _BATCH_COMMANDS


def list_watched_paths(process: ProcessInfo) -> list[WatchedPath]:
    home = find_codex_home(process)
    if not home:
        return []
    thread = find_resumed_session(process)
    name = f"rollout-*-{thread}.jsonl" if thread else "rollout-*.jsonl"
    hint = ProcessHint(pid=process.pid, pid_started=process.pid_started) if thread else ProcessHint()
    folder = posixpath.join(home, "sessions")
    return [WatchedPath(source="rollout", kind="lines", folder=folder, pattern=name, is_deep=True, hint=hint)]


def is_printing_json(process: ProcessInfo) -> bool:
    """Return True if the process was started to print JSON lines."""
    command_line = parse_command_line(process)
    return command_line.subcommand in ("exec", "e") and command_line.prints_json


def _is_native(process: ProcessInfo) -> bool:
    return bool(process.argv) and posixpath.basename(process.argv[0]) == PROGRAM_NAME


def _is_wrapper(process: ProcessInfo) -> bool:
    return get_script_arguments(process, _WRAPPER_PATTERN) is not None


def _get_arguments(process: ProcessInfo) -> tuple[str, ...]:
    arguments = get_script_arguments(process, _WRAPPER_PATTERN)
    return process.argv[1:] if arguments is None else arguments


def _is_agent(arguments: Sequence[str]) -> bool:
    is_command = _parse_arguments(arguments).subcommand in _NON_AGENT_COMMANDS
    return not is_command and not _INFO_OPTIONS.intersection(arguments)


def _parse_arguments(arguments: Sequence[str]) -> CodexCommandLine:
    """Parse positional arguments and options in any order, as Codex does."""
    words: list[str] = []
    folder, uses_own_server, prints_json, is_prompt = "", False, False, False
    remaining = iter(arguments)
    for argument in remaining:
        name, has_value, value = argument.partition("=")
        if argument == "--":
            is_prompt = not words
            words += list(remaining)
        elif not argument.startswith("-") or argument == "-":
            words.append(argument)
        else:
            value = value if has_value else next(remaining, "") if name in _OPTIONS_WITH_VALUE else ""
            folder = value if name in ("-C", "--cd") else folder
            prints_json = prints_json or name in _JSON_OPTIONS
            uses_own_server = (
                uses_own_server or name in _OWN_SERVER_OPTIONS or (name, value) == ("--disable", "daemon_auto_start")
            )
    commands = _INTERACTIVE_COMMANDS | _BATCH_COMMANDS | _NON_AGENT_COMMANDS
    has_subcommand = bool(words) and not is_prompt and words[0] in commands
    return CodexCommandLine(
        subcommand=words[0] if has_subcommand else "",
        arguments=tuple(words[1:] if has_subcommand else words),
        folder=folder,
        uses_own_server=uses_own_server,
        prints_json=prints_json,
    )


ADAPTER = ComposedAdapter(
    name="codex",
    capabilities=FULL_CAPABILITIES | {"native_approve", "native_send"},
    sources=(
        evidence.build_native_source("app_server", 1, blind_to=("completed",)),
        evidence.OSC_SOURCE,
        # Versions before 0.142 have no hook for dialogs.
        evidence.EvidenceSource(
            name="hook", tier="deterministic", rank=3, has_holes=True, misses_dialogs=True, is_shared=True
        ),
        evidence.EvidenceSource(name="notify", tier="deterministic", rank=3, has_holes=True, is_shared=True),
        evidence.build_transcript_source("rollout", 4),
        evidence.PRINTED_SOURCE,
        *evidence.HEURISTIC_SOURCES,
    ),
    env_names=("HOME", "CODEX_HOME"),
    process_finder=find_process,
    title_matcher=terminal_signals.matches_title,
    path_lister=list_watched_paths,
    readers={
        "osc": terminal_signals.read_osc,
        "app_server": server_messages.read_server_message,
        "hook": hooks.read_hook,
        "notify": hooks.read_hook,
        "rollout": transcript.read_rollout,
        evidence.PRINTED_SOURCE.name: terminal_signals.read_exec_line,
        "title": terminal_signals.read_title,
    },
    transcript_readers={
        "hook": build_hook_transcript_reader(
            ("UserPromptSubmit", "user", "prompt"), ("Stop", "assistant", "last_assistant_message")
        )
    },
    screen_classifier=screen.SCREEN_CLASSIFIER,
    package_names=("@openai/codex",),
    session_resume=SESSION_RESUME,
    resumed_session_finder=find_resumed_session,
    json_output_check=is_printing_json,
)
