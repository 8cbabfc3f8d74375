"""A Lookup is a question to a program of others that only looks. Each is one fixed shape of words, declared here.

What does not fit a shape, word by word, is no lookup: nothing that a screen or a file says becomes an option.
"""

import re

from msgspec import Struct

READONLY_CWD = "/"
"""Where they start: some read their settings from the folder that they start in, and a project may be a stranger's."""
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
}
_LABEL_BY_PATTERN |= {_USAGE_VERB_PATTERN: "usage|refresh"}


class ReadOnlyProgram(Struct, frozen=True, kw_only=True):
    """``words`` are patterns, one a word; ``serves`` says what is not told where the program is missing."""

    program: str
    argv_patterns: tuple[str, ...]
    purpose: str
    timeout_s: float
    """After so long it is ended."""
    max_output_bytes: int
    """Bytes that it may say; beyond them it is ended."""
    uses_network: bool = False
    """It asks other machines."""

    @property
    def usage(self) -> str:
        """As the reference shows it."""
        return " ".join((self.program, *(_LABEL_BY_PATTERN.get(word, word) for word in self.argv_patterns[1:])))

    def matches(self, argv: tuple[str, ...]) -> bool:
        pairs = zip(self.argv_patterns, argv, strict=False)
        return len(argv) == len(self.argv_patterns) and all(re.fullmatch(one, word, re.DOTALL) for one, word in pairs)


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
ACCOUNT_USAGE = ReadOnlyProgram(
    program="caut",
    argv_patterns=(_TEXT_PATTERN, _USAGE_VERB_PATTERN, "--service", _SERVICE_PATTERN, "--format", "json"),
    purpose="`visor accounts refresh`",
    timeout_s=20.0,
    max_output_bytes=1 << 20,
    uses_network=True,
)
"""The user's own settings name the program: that is their consent to it."""

READONLY_PROGRAMS = (CODE_SEARCH, SESSION_BY_ID, SESSIONS_BY_FOLDER, ACCOUNT_USAGE)


def find_readonly_program(argv: tuple[str, ...], cwd: str) -> ReadOnlyProgram | None:
    """The question that these words are; None where they are none that we know."""
    return next((one for one in READONLY_PROGRAMS if one.matches(argv)), None) if cwd == READONLY_CWD else None
