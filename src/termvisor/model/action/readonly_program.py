"""A Lookup is a question to a program of others that only looks. Each is one fixed shape of words, declared here.

What does not fit a shape, word by word, is no lookup: nothing that a screen or a file says becomes an option.
"""

import re

from msgspec import Struct

FOLDER = "/"
"""Where they start: some read their settings from the folder that they start in, and a project may be a stranger's."""
_TEXT = r"(?!-)[^\0]{1,4096}"
_PATH = r"/[^\0]{0,4095}"
_NAME = r"[A-Za-z_][A-Za-z0-9_]{2,79}"
_AGENT, _SERVICE, _WHAT = "[a-z0-9_]+", "[a-z]+", "(usage|refresh)"
_CALLED = {_TEXT: "<id>", _PATH: "<folder>", _NAME: "<name>", _AGENT: "<agent>", _SERVICE: "<service>"}
_CALLED |= {_WHAT: "usage|refresh"}


class Lookup(Struct, frozen=True, kw_only=True):
    """``words`` are patterns, one a word; ``serves`` says what is not told where the program is missing."""

    program: str
    words: tuple[str, ...]
    serves: str
    seconds: float
    """After so long it is ended."""
    most: int
    """Bytes that it may say; beyond them it is ended."""
    reaches_out: bool = False
    """It asks other machines."""

    @property
    def form(self) -> str:
        """As the reference shows it."""
        return " ".join((self.program, *(_CALLED.get(word, word) for word in self.words[1:])))

    def fits(self, argv: tuple[str, ...]) -> bool:
        pairs = zip(self.words, argv, strict=False)
        return len(argv) == len(self.words) and all(re.fullmatch(one, word, re.DOTALL) for one, word in pairs)


CODE = Lookup(
    program="ast-grep",
    words=("ast-grep", "run", "--json=compact", "--pattern", _NAME, "--", _PATH),
    serves="the workflow unstick",
    seconds=5.0,
    most=4 << 20,
)
HISTORY_BY_ID = Lookup(
    program="cass",
    words=("cass", "query", "--session-id", _TEXT, "--format", "json"),
    serves="`visor agents sessions --history`",
    seconds=5.0,
    most=256 << 10,
)
HISTORY_BY_FOLDER = Lookup(
    program="cass",
    words=("cass", "search", "--path", _PATH, "--agent", _AGENT, "--format", "json"),
    serves=HISTORY_BY_ID.serves,
    seconds=5.0,
    most=256 << 10,
)
USAGE = Lookup(
    program="caut",
    words=(_TEXT, _WHAT, "--service", _SERVICE, "--format", "json"),
    serves="`visor accounts refresh`",
    seconds=20.0,
    most=1 << 20,
    reaches_out=True,
)
"""The user's own settings name the program: that is their consent to it."""

LOOKUPS = (CODE, HISTORY_BY_ID, HISTORY_BY_FOLDER, USAGE)


def lookup_of(argv: tuple[str, ...], cwd: str) -> Lookup | None:
    """The question that these words are; None where they are none that we know."""
    return next((one for one in LOOKUPS if one.fits(argv)), None) if cwd == FOLDER else None
