"""Search code for identifiers with `ast-grep`, if it is installed.

It reads only below one folder. It runs in the root folder, because it loads settings from the current folder: those of
an untrusted project could name libraries to load. Names must be plain identifiers, so that text from a screen cannot
become an option or a pattern.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from termvisor.errors import Refused
from termvisor.model.action.action import RunProgram
from termvisor.model.action.outcome import ProgramRunner, explain_missing_output
from termvisor.redaction import redact
from termvisor.system.subprocesses import is_installed
from termvisor.workflows.results import CodeSearchResult

AST_GREP = "ast-grep"
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,79}")
# Each name needs one run of ast-grep over the whole project.
_MAX_NAMES = 3
# The places become part of a prompt, which should stay short.
_MAX_PLACES_PER_NAME = 4
_MAX_LINE_CHARS = 160


class _MatchStart(Struct, frozen=True):
    line: int = 0


class _MatchRange(Struct, frozen=True):
    start: _MatchStart = _MatchStart()


class _AstGrepMatch(Struct, frozen=True):
    file: str
    lines: str = ""
    range: _MatchRange = _MatchRange()


async def search_code(names: Sequence[str], folder: str, run_program: ProgramRunner) -> CodeSearchResult:
    """Return where the names are defined and used; ``run_program`` goes through the gate."""
    identifiers = [name for name in dict.fromkeys(names) if _IDENTIFIER.fullmatch(name)][:_MAX_NAMES]
    if not identifiers:
        return CodeSearchResult(trouble="no identifier to search for")
    if not folder.startswith("/"):
        return CodeSearchResult(trouble="the folder of the pane is not known")
    if not is_installed(AST_GREP):
        return CodeSearchResult(trouble="ast-grep is not installed, so no code was searched")
    places: list[str] = []
    for name in identifiers:
        places_of_name, problem = await _run_ast_grep(name, folder, run_program)
        if problem:
            return CodeSearchResult(places=tuple(places), trouble=redact(problem)[:_MAX_LINE_CHARS])
        places += places_of_name
    return CodeSearchResult(places=tuple(places))


async def _run_ast_grep(name: str, folder: str, run_program: ProgramRunner) -> tuple[list[str], str]:
    try:
        outcome = await run_program(
            RunProgram(argv=(AST_GREP, "run", "--json=compact", "--pattern", name, "--", folder))
        )
    # The policy may forbid the program; a prompt without places is still useful.
    except Refused as error:
        return [], f"ast-grep was not run: {error.message}"
    output = outcome.answered
    if output is None:
        return [], explain_missing_output(outcome, AST_GREP)
    if output.exit_status not in (0, 1):  # ast-grep exits with 1 if it found nothing
        return [], f"ast-grep: {output.errors.decode('utf-8', 'replace').strip().rpartition(chr(10))[2]}"
    try:
        matches = msgspec.json.decode(output.out or b"[]", type=list[_AstGrepMatch])
    # Another version may print another format.
    except msgspec.DecodeError:
        return [], "ast-grep printed unexpected JSON"
    return list(_format_places(matches, folder)), ""


def _format_places(matches: Sequence[_AstGrepMatch], folder: str) -> Iterator[str]:
    """Yield `file:line: code`, definitions first."""
    lines = {(match.file, match.range.start.line): match.lines.strip().split("\n")[0] for match in matches}
    ordered = sorted(lines.items(), key=lambda item: (not _is_definition(item[1]), item[0]))
    for (file, line), text in ordered[:_MAX_PLACES_PER_NAME]:
        relative = file.removeprefix(folder.rstrip("/") + "/")
        yield redact(f"{relative}:{line + 1}: {text}")[:_MAX_LINE_CHARS]


def _is_definition(text: str) -> bool:
    return (
        re.match(
            r"(export |pub |async |public |static )*(def|class|fn|func|function|struct|type|interface|const)\b", text
        )
        is not None
    )
