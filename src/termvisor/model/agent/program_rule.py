"""Parse the setting `agent_programs`: ``<command line> :: <state> :: <row>``, with two Python regular expressions.

aider :: waiting_approval :: \\(Y\\)es/\\(N\\)o
"""

import re
from collections.abc import Sequence
from functools import cache

from msgspec import Struct

from termvisor.model.agent.state import PRECEDENCE, StateName

RULE_STATES: dict[str, StateName] = {name: name for name in PRECEDENCE if name != "unknown"}
_MAX_MATCH_CHARS = 500
"""Maximum characters to match, so that untrusted output cannot cause long searches."""


class ProgramRule(Struct, frozen=True, kw_only=True):
    program: str
    """A pattern for the command line, with its arguments joined by spaces."""
    state: StateName
    row: str
    """A pattern for one row of the screen."""

    def is_for_program(self, argv: Sequence[str]) -> bool:
        return bool(argv) and _compile_pattern(self.program).search(" ".join(argv)[:_MAX_MATCH_CHARS]) is not None

    def is_row_match(self, row: str) -> bool:
        return _compile_pattern(self.row).search(row[:_MAX_MATCH_CHARS]) is not None


def parse_program_rule(text: str) -> ProgramRule:
    """Parse a program rule. Raises ValueError with the problem."""
    parts = [part.strip() for part in text.split(" :: ", 2)]
    if len(parts) != 3:
        raise ValueError("is not of the form `program :: state :: row`")
    program, state, row = parts
    if state not in RULE_STATES:
        raise ValueError(f"has an unknown state; use one of {', '.join(RULE_STATES)}")
    for pattern in (program, row):
        _check_pattern(pattern)
    return ProgramRule(program=program, state=RULE_STATES[state], row=row)


def find_program_rule_problem(text: str) -> str:
    """Return why a text is not a valid rule; empty if it is."""
    try:
        parse_program_rule(text)
    except ValueError as error:
        return str(error)
    return ""


def _check_pattern(pattern: str) -> None:
    try:
        regex = _compile_pattern(pattern)
    except re.error as error:
        raise ValueError(f"has an invalid pattern: {error}") from error
    if regex.search("") is not None and regex.search("-") is not None:
        raise ValueError(f"has the pattern {pattern[:100]!r}, which matches everything")


@cache
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
