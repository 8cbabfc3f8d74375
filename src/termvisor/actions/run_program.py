"""Runs the programs of others that we ask something, and no other: without a shell, an input or a choice of folder.

Of our own environment they get what says where things are and, where they ask other machines, by which way; nothing
else. See `model.lookup`.
"""

from collections.abc import Mapping

from termvisor.errors import Unsupported
from termvisor.model.action.action import RunProgram
from termvisor.model.action.outcome import Outcome, ProgramOutput
from termvisor.model.action.readonly_program import ReadOnlyProgram, find_readonly_program
from termvisor.settings import get_environment
from termvisor.system.subprocesses import ProgramResult, run_bounded

_LOCATION_VARIABLES: tuple[str, ...] = ("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TZ", "LANG", "LC_ALL", "LC_CTYPE")
_LOCATION_VARIABLES += ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")
_NETWORK_VARIABLES: tuple[str, ...] = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)
_NETWORK_VARIABLES += tuple(name.lower() for name in _NETWORK_VARIABLES if name.endswith("PROXY"))


async def run_program(action: RunProgram) -> Outcome:
    """Raises ``Unsupported`` for a program that is no lookup."""
    lookup = find_readonly_program(action.argv, action.cwd)
    if lookup is None:
        raise Unsupported("only programs that are known to look and do nothing else can be run")
    env = build_environment(lookup, get_environment())
    return build_outcome(
        await run_bounded(action.argv, timeout_s=lookup.timeout_s, max_bytes=lookup.max_output_bytes, env=env),
        lookup,
        action,
    )


def build_environment(lookup: ReadOnlyProgram, environ: Mapping[str, str]) -> dict[str, str]:
    names = (*_LOCATION_VARIABLES, *_NETWORK_VARIABLES) if lookup.uses_network else _LOCATION_VARIABLES
    return {name: environ[name] for name in names if name in environ}


def build_outcome(result: ProgramResult, lookup: ReadOnlyProgram, action: RunProgram) -> Outcome:
    """Its own words are nobody's to tell here: only who asked knows what they may hold."""
    program = action.argv[0]
    troubles = {
        "missing": ("not_installed", f"{program} is not installed"),
        "cannot_start": ("cannot_start", f"{program} cannot be started"),
        "timed_out": ("timed_out", f"{program} gave no answer within {lookup.timeout_s:g} s"),
        "too_much": ("too_much", f"the answer of {program} is longer than {lookup.max_output_bytes >> 10} KiB"),
    }
    if result.failure:
        why, text = troubles[result.failure]
        return Outcome(status="failed", why=why, text=text)
    why = f"exit_{result.status}" if result.status else ""
    return Outcome(status="done", why=why, answered=ProgramOutput(result.status, result.out, result.errors))
