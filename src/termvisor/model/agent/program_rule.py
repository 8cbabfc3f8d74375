"""A rule of the setting `agent_programs`: ``<command line> :: <state> :: <row>``. Both patterns are Python's.

aider :: waiting_approval :: \\(Y\\)es/\\(N\\)o
"""

import re
from collections.abc import Sequence
from functools import cache

from msgspec import Struct

from termvisor.model.agent.state import PRECEDENCE, StateName

RULE_STATES: dict[str, StateName] = {name: name for name in PRECEDENCE if name != "unknown"}
_MAX_MATCH_CHARS = 500
"""Characters that a pattern is tried on: what programs print must not keep us busy."""


class ProgramRule(Struct, frozen=True, kw_only=True):
    program: str
    """A pattern of the command line, its words joined by blanks."""
    state: StateName
    row: str
    """A pattern of one row of the screen."""

    def is_for_program(self, argv: Sequence[str]) -> bool:
        return bool(argv) and _compile_pattern(self.program).search(" ".join(argv)[:_MAX_MATCH_CHARS]) is not None

    def is_row_match(self, row: str) -> bool:
        return _compile_pattern(self.row).search(row[:_MAX_MATCH_CHARS]) is not None


def parse_program_rule(text: str) -> ProgramRule:
    """ValueError, with what is wrong, for a text that is no rule."""
    parts = [part.strip() for part in text.split(" :: ", 2)]
    if len(parts) != 3:
        raise ValueError("is not of the form `program :: state :: row`")
    program, state, row = parts
    if state not in RULE_STATES:
        raise ValueError(f"names no state; use one of {', '.join(RULE_STATES)}")
    for pattern in (program, row):
        _check_pattern(pattern)
    return ProgramRule(program=program, state=RULE_STATES[state], row=row)


def find_program_rule_problem(text: str) -> str:
    """Why a text is no rule; empty for one that is."""
    try:
        parse_program_rule(text)
    except ValueError as error:
        return str(error)
    return ""


def _check_pattern(pattern: str) -> None:
    try:
        found = _compile_pattern(pattern)
    except re.error as error:
        raise ValueError(f"has a pattern that cannot be read: {error}") from error
    if found.search("") is not None and found.search("-") is not None:
        raise ValueError(f"has the pattern {pattern[:100]!r}, which fits everything")


@cache
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
