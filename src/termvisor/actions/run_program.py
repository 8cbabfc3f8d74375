"""Run a read-only program and return its output, without a shell or stdin.

Only the programs in `model.action.readonly_program` are run. They get the environment variables for paths and locale
and, if they use the network, for proxies and certificates; nothing else.
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
    """Run the program within its time and output limits. Raises ``Unsupported`` if it is not known as read-only."""
    program = find_readonly_program(action.argv, action.cwd)
    if program is None:
        raise Unsupported("only programs that are known to be read-only can be run")
    env = build_environment(program, get_environment())
    max_bytes = program.max_output_bytes
    result = await run_bounded(action.argv, timeout_s=program.timeout_s, max_bytes=max_bytes, env=env)
    return build_outcome(result, program, action)


def build_environment(program: ReadOnlyProgram, environ: Mapping[str, str]) -> dict[str, str]:
    names = (*_LOCATION_VARIABLES, *_NETWORK_VARIABLES) if program.uses_network else _LOCATION_VARIABLES
    return {name: environ[name] for name in names if name in environ}


def build_outcome(result: ProgramResult, program: ReadOnlyProgram, action: RunProgram) -> Outcome:
    """Build the outcome; the output is passed on unread, since only the caller knows what it may contain."""
    name = action.argv[0]
    failures = {
        "missing": ("not_installed", f"{name} is not installed"),
        "cannot_start": ("cannot_start", f"{name} cannot be started"),
        "timed_out": ("timed_out", f"{name} timed out after {program.timeout_s:g} s"),
        "too_much": ("too_much", f"the output of {name} is longer than {program.max_output_bytes >> 10} KiB"),
    }
    if result.failure:
        why, text = failures[result.failure]
        return Outcome(status="failed", why=why, text=text)
    why = f"exit_{result.status}" if result.status else ""
    return Outcome(status="done", why=why, answered=ProgramOutput(result.status, result.out, result.errors))
