"""Runs the programs of others that we ask something, and no other: without a shell, an input or a choice of folder.

Of our own environment they get what says where things are and, where they ask other machines, by which way; nothing
else. See `model.lookup`.
"""

from collections.abc import Mapping

from termvisor.errors import Unsupported
from termvisor.model.action.action import RunProgram
from termvisor.model.action.outcome import Answered, Outcome
from termvisor.model.action.readonly_program import Lookup, lookup_of
from termvisor.settings import environment
from termvisor.system.subprocesses import Said, ask_bounded

_PLACES: tuple[str, ...] = ("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TZ", "LANG", "LC_ALL", "LC_CTYPE")
_PLACES += ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")
_WAYS_OUT: tuple[str, ...] = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")
_WAYS_OUT += tuple(name.lower() for name in _WAYS_OUT if name.endswith("PROXY"))


async def run(action: RunProgram) -> Outcome:
    """Raises ``Unsupported`` for a program that is no lookup."""
    lookup = lookup_of(action.argv, action.cwd)
    if lookup is None:
        raise Unsupported("only programs that are known to look and do nothing else can be run")
    env = surroundings(lookup, environment())
    return outcome_of(await ask_bounded(action.argv, timeout=lookup.seconds, most=lookup.most, env=env), lookup, action)


def surroundings(lookup: Lookup, environ: Mapping[str, str]) -> dict[str, str]:
    names = (*_PLACES, *_WAYS_OUT) if lookup.reaches_out else _PLACES
    return {name: environ[name] for name in names if name in environ}


def outcome_of(said: Said, lookup: Lookup, action: RunProgram) -> Outcome:
    """Its own words are nobody's to tell here: only who asked knows what they may hold."""
    program = action.argv[0]
    troubles = {
        "missing": ("not_installed", f"{program} is not installed"),
        "cannot_start": ("cannot_start", f"{program} cannot be started"),
        "timed_out": ("timed_out", f"{program} gave no answer within {lookup.seconds:g} s"),
        "too_much": ("too_much", f"the answer of {program} is longer than {lookup.most >> 10} KiB"),
    }
    if said.trouble:
        why, text = troubles[said.trouble]
        return Outcome(status="failed", why=why, text=text)
    why = f"exit_{said.status}" if said.status else ""
    return Outcome(status="done", why=why, answered=Answered(said.status, said.out, said.errors))
