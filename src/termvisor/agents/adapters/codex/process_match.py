"""Which process is a Codex that somebody works with, and what its command line proves.

The shared server that the first Codex leaves behind is called `codex`, too, and runs below it; so are the tools that
it starts under other names. Those are no agents of a pane.
"""

import posixpath
from collections.abc import Sequence

from msgspec import Struct

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.adapters.command_line import SessionResume, get_script_arguments

AGENT_NAME = PROGRAM_NAME = "codex"
_OPTIONS_WITH_VALUE = frozenset(
    {
        "-c",
        "--config",
        "--enable",
        "--disable",
        "--remote",
        "--remote-auth-token-env",
        "-i",
        "--image",
        "-m",
        "--model",
        "--local-provider",
        "-p",
        "--profile",
        "-s",
        "--sandbox",
        "-C",
        "--cd",
        "--add-dir",
        "-a",
        "--ask-for-approval",
        "-o",
        "--output-last-message",
        "--output-schema",
        "--color",
        "--thread-source",
        "--cyber-access-program",
    }
)
_INTERACTIVE_COMMANDS = frozenset({"resume", "fork", "agents"})
_BATCH_COMMANDS = frozenset({"exec", "e", "review"})
_NON_AGENT_COMMANDS = frozenset(
    {
        "login",
        "logout",
        "mcp",
        "mcp-server",
        "plugin",
        "app-server",
        "remote-control",
        "completion",
        "update",
        "doctor",
        "sandbox",
        "debug",
        "apply",
        "a",
        "queue",
        "archive",
        "unarchive",
        "delete",
        "migrate-rollouts",
        "migrate-nfs-db",
        "cloud",
        "exec-server",
        "features",
        "help",
    }
)
_WRAPPER_PATTERN = r"/@openai/codex/bin/codex\.js$|/\.?bin/codex$"
SESSION_RESUME = SessionResume(("codex", "resume", "{}"))
_JSON_OPTIONS = frozenset({"--json", "--experimental-json"})
_OWN_SERVER_OPTIONS = frozenset({"--no-daemon", "--remote", "--dangerously-bypass-hook-trust"})


class CodexCommandLine(Struct, frozen=True, kw_only=True):
    """A command line, as far as it matters here."""

    subcommand: str = ""
    """The sub-command; empty when there is none, or a prompt in its place."""
    arguments: tuple[str, ...] = ()
    """What stands behind the sub-command and is no option."""
    folder: str = ""
    """Where the agent is told to work."""
    uses_own_server: bool = False
    """It was told to use a server of its own, or one elsewhere."""
    prints_json: bool = False
    """It was told to print what it does for programs to read."""


def find_process(processes: Sequence[ProcessInfo]) -> ProcessInfo | None:
    """The program itself rather than the script that starts it."""
    native = next((one for one in processes if _is_native(one) and _is_agent(one.argv[1:])), None)
    return native or next((one for one in processes if _is_wrapper(one) and _is_agent(_get_arguments(one))), None)


def parse_command_line(process: ProcessInfo) -> CodexCommandLine:
    return _parse_arguments(_get_arguments(process))


def find_codex_home(process: ProcessInfo) -> str:
    """Where this Codex keeps its things; empty where that is not known."""
    if home := process.env.get("CODEX_HOME", ""):
        return home
    user = process.env.get("HOME", "")
    return posixpath.join(user, ".codex") if user else ""


def find_working_folder(process: ProcessInfo) -> str:
    """The folder in which its threads begin."""
    return posixpath.normpath(posixpath.join(process.cwd, parse_command_line(process).folder)) if process.cwd else ""


def find_resumed_session(process: ProcessInfo) -> str:
    """The thread that its command line names; empty where it names none. A fork gets another id."""
    call = parse_command_line(process)
    words = (
        call.arguments[1:] if call.subcommand in ("exec", "e") and call.arguments[:1] == ("resume",) else call.arguments
    )
    is_named = (
        (call.subcommand == "resume" or words != call.arguments) and words and SESSION_RESUME.is_session(words[0])
    )
    return words[0] if is_named else ""


def uses_shared_server(process: ProcessInfo) -> bool:
    """Not, if its command line says so. A setting may say so, too; that does not show here."""
    call = parse_command_line(process)
    return not call.uses_own_server and call.subcommand not in _BATCH_COMMANDS


def _is_native(process: ProcessInfo) -> bool:
    return bool(process.argv) and posixpath.basename(process.argv[0]) == PROGRAM_NAME


def _is_wrapper(process: ProcessInfo) -> bool:
    return get_script_arguments(process, _WRAPPER_PATTERN) is not None


def _get_arguments(process: ProcessInfo) -> tuple[str, ...]:
    words = get_script_arguments(process, _WRAPPER_PATTERN)
    return process.argv[1:] if words is None else words


def _is_agent(arguments: Sequence[str]) -> bool:
    return _parse_arguments(arguments).subcommand not in _NON_AGENT_COMMANDS and not {
        "-h",
        "--help",
        "-V",
        "--version",
    } & set(arguments)


def _parse_arguments(arguments: Sequence[str]) -> CodexCommandLine:
    """Words and options in any order, as its command line takes them."""
    words: list[str] = []
    folder, is_apart, is_json, is_prompt = "", False, False, False
    rest = iter(arguments)
    for argument in rest:
        name, has_value, value = argument.partition("=")
        if argument == "--":
            is_prompt = not words
            words += list(rest)
        elif not argument.startswith("-") or argument == "-":
            words.append(argument)
        else:
            value = value if has_value else next(rest, "") if name in _OPTIONS_WITH_VALUE else ""
            folder = value if name in ("-C", "--cd") else folder
            is_json = is_json or name in _JSON_OPTIONS
            is_apart = is_apart or name in _OWN_SERVER_OPTIONS or (name, value) == ("--disable", "daemon_auto_start")
    is_verb = (
        bool(words) and not is_prompt and words[0] in _INTERACTIVE_COMMANDS | _BATCH_COMMANDS | _NON_AGENT_COMMANDS
    )
    verb = words[0] if is_verb else ""
    return CodexCommandLine(
        subcommand=verb,
        arguments=tuple(words[1:] if is_verb else words),
        folder=folder,
        uses_own_server=is_apart,
        prints_json=is_json,
    )
