"""A rule of the setting `agent_programs`: ``<command line> :: <state> :: <row>``. Both patterns are Python's.

aider :: waiting_approval :: \\(Y\\)es/\\(N\\)o
"""

import re
from collections.abc import Sequence
from functools import cache

from msgspec import Struct

from termvisor.model.agent.state import PRECEDENCE, StateName

STATES: dict[str, StateName] = {name: name for name in PRECEDENCE if name != "unknown"}
_LONGEST = 500
"""Characters that a pattern is tried on: what programs print must not keep us busy."""


class ProgramRule(Struct, frozen=True, kw_only=True):
    program: str
    """A pattern of the command line, its words joined by blanks."""
    state: StateName
    row: str
    """A pattern of one row of the screen."""

    def is_of(self, argv: Sequence[str]) -> bool:
        return bool(argv) and _compiled(self.program).search(" ".join(argv)[:_LONGEST]) is not None

    def fits(self, row: str) -> bool:
        return _compiled(self.row).search(row[:_LONGEST]) is not None


def rule_of(text: str) -> ProgramRule:
    """ValueError, with what is wrong, for a text that is no rule."""
    parts = [part.strip() for part in text.split(" :: ", 2)]
    if len(parts) != 3:
        raise ValueError("is not of the form `program :: state :: row`")
    program, state, row = parts
    if state not in STATES:
        raise ValueError(f"names no state; use one of {', '.join(STATES)}")
    for pattern in (program, row):
        _check(pattern)
    return ProgramRule(program=program, state=STATES[state], row=row)


def complaint(text: str) -> str:
    """Why a text is no rule; empty for one that is."""
    try:
        rule_of(text)
    except ValueError as error:
        return str(error)
    return ""


def _check(pattern: str) -> None:
    try:
        found = _compiled(pattern)
    except re.error as error:
        raise ValueError(f"has a pattern that cannot be read: {error}") from error
    if found.search("") is not None and found.search("-") is not None:
        raise ValueError(f"has the pattern {pattern[:100]!r}, which fits everything")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
