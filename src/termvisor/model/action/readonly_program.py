"""Third-party programs that only read. Each accepts one fixed form of arguments, declared here.

Arguments that do not match the form word by word are rejected, so that text from a screen or file cannot become an
option.
"""

import re

from msgspec import Struct

# Their working directory, because some read settings from it and a project folder may not be trusted.
READONLY_CWD = "/"
# No leading dash, so that text from a screen or file cannot become an option.
_TEXT_PATTERN = r"(?!-)[^\0]{1,4096}"
_PATH_PATTERN = r"/[^\0]{0,4095}"
_NAME_PATTERN = r"[A-Za-z_][A-Za-z0-9_]{2,79}"
_AGENT_PATTERN, _SERVICE_PATTERN, _USAGE_VERB_PATTERN = "[a-z0-9_]+", "[a-z]+", "(usage|refresh)"
_LABEL_BY_PATTERN = {
    _TEXT_PATTERN: "<id>",
    _PATH_PATTERN: "<folder>",
    _NAME_PATTERN: "<name>",
    _AGENT_PATTERN: "<agent>",
    _SERVICE_PATTERN: "<service>",
    _USAGE_VERB_PATTERN: "usage|refresh",
}


class ReadOnlyProgram(Struct, frozen=True, kw_only=True):
    """``argv_patterns`` has one pattern per argument; ``purpose`` is the feature that needs the program."""

    program: str
    argv_patterns: tuple[str, ...]
    purpose: str
    timeout_s: float
    """Seconds after which the program is killed."""
    max_output_bytes: int
    """Maximum output in bytes. The program is killed if it prints more."""
    uses_network: bool = False

    @property
    def usage(self) -> str:
        """The command line for the reference, with labels instead of patterns."""
        return " ".join((self.program, *(_LABEL_BY_PATTERN.get(word, word) for word in self.argv_patterns[1:])))

    def matches(self, argv: tuple[str, ...]) -> bool:
        """Return True if the arguments match the patterns one by one."""
        pairs = zip(self.argv_patterns, argv, strict=False)
        return len(argv) == len(self.argv_patterns) and all(
            re.fullmatch(pattern, word, re.DOTALL) for pattern, word in pairs
        )


CODE_SEARCH = ReadOnlyProgram(
    program="ast-grep",
    argv_patterns=("ast-grep", "run", "--json=compact", "--pattern", _NAME_PATTERN, "--", _PATH_PATTERN),
    purpose="the workflow unstick",
    timeout_s=5.0,
    max_output_bytes=4 << 20,
)
SESSION_BY_ID = ReadOnlyProgram(
    program="cass",
    argv_patterns=("cass", "query", "--session-id", _TEXT_PATTERN, "--format", "json"),
    purpose="`visor agents sessions --history`",
    timeout_s=5.0,
    max_output_bytes=256 << 10,
)
SESSIONS_BY_FOLDER = ReadOnlyProgram(
    program="cass",
    argv_patterns=("cass", "search", "--path", _PATH_PATTERN, "--agent", _AGENT_PATTERN, "--format", "json"),
    purpose=SESSION_BY_ID.purpose,
    timeout_s=5.0,
    max_output_bytes=256 << 10,
)
# The user's own settings name the program, which counts as consent.
ACCOUNT_USAGE = ReadOnlyProgram(
    program="caut",
    argv_patterns=(_TEXT_PATTERN, _USAGE_VERB_PATTERN, "--service", _SERVICE_PATTERN, "--format", "json"),
    purpose="`visor accounts refresh`",
    timeout_s=20.0,
    max_output_bytes=1 << 20,
    uses_network=True,
)

READONLY_PROGRAMS = (CODE_SEARCH, SESSION_BY_ID, SESSIONS_BY_FOLDER, ACCOUNT_USAGE)


def find_readonly_program(argv: tuple[str, ...], cwd: str) -> ReadOnlyProgram | None:
    """Return the read-only program that this command line runs; None if there is none."""
    if cwd != READONLY_CWD:
        return None
    return next((program for program in READONLY_PROGRAMS if program.matches(argv)), None)
