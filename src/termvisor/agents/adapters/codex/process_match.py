"""Which process is a Codex that somebody works with, and what its command line proves.

The shared server that the first Codex leaves behind is called `codex`, too, and runs below it; so are the tools that
it starts under other names. Those are no agents of a pane.
"""

import posixpath
from collections.abc import Sequence

from msgspec import Struct

from termvisor.agents.adapters.adapter import Process
from termvisor.agents.adapters.command_line import Resume, script_words

AGENT = PROGRAM = "codex"
_TAKES_A_VALUE = frozenset(
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
_WITH_A_FACE = frozenset({"resume", "fork", "agents"})
_RUNS = frozenset({"exec", "e", "review"})
_OTHERS = frozenset(
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
_WRAPPER = r"/@openai/codex/bin/codex\.js$|/\.?bin/codex$"
RESUME = Resume(("codex", "resume", "{}"))
_JSON = frozenset({"--json", "--experimental-json"})
_APART = frozenset({"--no-daemon", "--remote", "--dangerously-bypass-hook-trust"})


class Call(Struct, frozen=True, kw_only=True):
    """A command line, as far as it matters here."""

    verb: str = ""
    """The sub-command; empty when there is none, or a prompt in its place."""
    words: tuple[str, ...] = ()
    """What stands behind the sub-command and is no option."""
    folder: str = ""
    """Where the agent is told to work."""
    is_apart: bool = False
    """It was told to use a server of its own, or one elsewhere."""
    is_json: bool = False
    """It was told to print what it does for programs to read."""


def recognise(processes: Sequence[Process]) -> Process | None:
    """The program itself rather than the script that starts it."""
    native = next((one for one in processes if _is_native(one) and _is_agent(one.argv[1:])), None)
    return native or next((one for one in processes if _is_wrapper(one) and _is_agent(_arguments(one))), None)


def call_of(process: Process) -> Call:
    return _parsed(_arguments(process))


def home_of(process: Process) -> str:
    """Where this Codex keeps its things; empty where that is not known."""
    if home := process.env.get("CODEX_HOME", ""):
        return home
    user = process.env.get("HOME", "")
    return posixpath.join(user, ".codex") if user else ""


def workplace_of(process: Process) -> str:
    """The folder in which its threads begin."""
    return posixpath.normpath(posixpath.join(process.cwd, call_of(process).folder)) if process.cwd else ""


def resumed_by(process: Process) -> str:
    """The thread that its command line names; empty where it names none. A fork gets another id."""
    call = call_of(process)
    words = call.words[1:] if call.verb in ("exec", "e") and call.words[:1] == ("resume",) else call.words
    is_named = (call.verb == "resume" or words != call.words) and words and RESUME.is_session(words[0])
    return words[0] if is_named else ""


def uses_shared_server(process: Process) -> bool:
    """Not, if its command line says so. A setting may say so, too; that does not show here."""
    call = call_of(process)
    return not call.is_apart and call.verb not in _RUNS


def _is_native(process: Process) -> bool:
    return bool(process.argv) and posixpath.basename(process.argv[0]) == PROGRAM


def _is_wrapper(process: Process) -> bool:
    return script_words(process, _WRAPPER) is not None


def _arguments(process: Process) -> tuple[str, ...]:
    words = script_words(process, _WRAPPER)
    return process.argv[1:] if words is None else words


def _is_agent(arguments: Sequence[str]) -> bool:
    return _parsed(arguments).verb not in _OTHERS and not {"-h", "--help", "-V", "--version"} & set(arguments)


def _parsed(arguments: Sequence[str]) -> Call:
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
            value = value if has_value else next(rest, "") if name in _TAKES_A_VALUE else ""
            folder = value if name in ("-C", "--cd") else folder
            is_json = is_json or name in _JSON
            is_apart = is_apart or name in _APART or (name, value) == ("--disable", "daemon_auto_start")
    is_verb = bool(words) and not is_prompt and words[0] in _WITH_A_FACE | _RUNS | _OTHERS
    verb = words[0] if is_verb else ""
    return Call(
        verb=verb, words=tuple(words[1:] if is_verb else words), folder=folder, is_apart=is_apart, is_json=is_json
    )
