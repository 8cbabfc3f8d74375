"""Programs that users declare as agents, each a table `[agents.<name>]` with Python regular expressions:

    [agents.aider]
    command = 'aider'
    states = { waiting_approval = '\\(Y\\)es/\\(N\\)o', waiting_input = ['^> ?$', '^[a-z]*> ?$'] }

The environment, and files of earlier versions, have lines `command :: state :: row` instead.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from msgspec import Struct

from termvisor.model.agent.state import PRECEDENCE, StateName

PROGRAM_STATES: tuple[StateName, ...] = tuple(name for name in PRECEDENCE if name != "unknown")
_MAX_MATCH_CHARS = 500
"""Maximum characters to match, so that untrusted output cannot cause long searches."""


class AgentProgram(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    command: str
    """A pattern for the command line, with its arguments joined by spaces."""
    states: dict[StateName, str | tuple[str, ...]] = {}
    """For each state, a pattern or several for one row of the screen; the first that matches decides."""

    def is_for_program(self, argv: Sequence[str]) -> bool:
        return bool(argv) and _compile_pattern(self.command).search(" ".join(argv)[:_MAX_MATCH_CHARS]) is not None

    def list_row_patterns(self) -> Iterator[tuple[StateName, str]]:
        for state, rows in self.states.items():
            yield from ((state, row) for row in ((rows,) if isinstance(rows, str) else rows))


def is_row_match(pattern: str, row: str) -> bool:
    return _compile_pattern(pattern).search(row[:_MAX_MATCH_CHARS]) is not None


def find_program_problem(program: AgentProgram) -> str:
    """Return why a program is not valid; empty if it is."""
    if "unknown" in program.states:
        return f"has an unknown state; use one of {', '.join(PROGRAM_STATES)}"
    patterns = [program.command, *(row for _, row in program.list_row_patterns())]
    return next(filter(None, map(_find_pattern_problem, patterns)), "")


def parse_program_lines(lines: Iterable[str]) -> dict[str, AgentProgram]:
    """Return the programs of lines `command :: state :: row`, in their order. Raises ValueError with the problem.

    The order of all rows is kept: a command whose states are not together becomes several programs.
    """
    programs: list[tuple[str, dict[StateName, tuple[str, ...]]]] = []
    for line in lines:
        command, state, row = _split_line(line)
        if not programs or programs[-1][0] != command or state in list(programs[-1][1])[:-1]:
            programs.append((command, {}))
        states = programs[-1][1]
        states[state] = (*states.get(state, ()), row)
    named: dict[str, AgentProgram] = {}
    for command, states in programs:
        rows = {state: rows[0] if len(rows) == 1 else rows for state, rows in states.items()}
        named[_choose_name(command, named)] = AgentProgram(command=command, states=rows)
    return named


def _split_line(line: str) -> tuple[str, StateName, str]:
    parts = [part.strip() for part in line.split(" :: ", 2)]
    if len(parts) != 3:
        raise ValueError(f"{line[:200]!r} is not of the form `program :: state :: row`")
    known = next((state for state in PROGRAM_STATES if state == parts[1]), None)
    if known is None:
        raise ValueError(f"{line[:200]!r} has an unknown state; use one of {', '.join(PROGRAM_STATES)}")
    for pattern in (parts[0], parts[2]):
        if problem := _find_pattern_problem(pattern):
            raise ValueError(f"{line[:200]!r} {problem}")
    return parts[0], known, parts[2]


def _choose_name(command: str, taken: Iterable[str]) -> str:
    """Return the first word of the pattern, with a number if it is taken."""
    word = re.search(r"(?<!\\)[a-z][\w-]+", command.replace(r"\b", " "), re.IGNORECASE)
    name = word[0] if word else "program"
    names = (name, *(f"{name}_{number}" for number in range(2, 10_000)))
    return next(one for one in names if one not in taken)


def _find_pattern_problem(pattern: str) -> str:
    try:
        regex = _compile_pattern(pattern)
    except re.error as error:
        return f"has an invalid pattern: {error}"
    if regex.search("") is not None and regex.search("-") is not None:
        return f"has the pattern {pattern[:100]!r}, which matches everything"
    return ""


@cache
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
