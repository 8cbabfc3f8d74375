"""Where names stand in code, asked of `ast-grep`: a program that knows the structure of many languages, if it is there.

It only reads, below one folder. It starts in the root folder: its settings, which may name libraries to load, are
looked for from there, and never in a project of strangers. Names are plain identifiers: nothing that a screen shows
becomes an option or a pattern of its own.
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
from termvisor.workflows.calls import CodeSearchResult

AST_GREP = "ast-grep"
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,79}")
_MAX_NAMES = 3
_MAX_PLACES_PER_NAME = 4
"""How many places of one name are told."""
_MAX_LINE_CHARS = 160


class _MatchStart(Struct, frozen=True):
    line: int = 0


class _MatchRange(Struct, frozen=True):
    start: _MatchStart = _MatchStart()


class _AstGrepMatch(Struct, frozen=True):
    file: str
    lines: str = ""
    range: _MatchRange = _MatchRange()


class AstGrepSearch:
    """The program is run by who asks, through the gate."""

    async def search(self, names: Sequence[str], folder: str, run_program: ProgramRunner) -> CodeSearchResult:
        wanted = [name for name in dict.fromkeys(names) if _IDENTIFIER.fullmatch(name)][:_MAX_NAMES]
        if not wanted:
            return CodeSearchResult(trouble="there is no name to look for")
        if not folder.startswith("/"):
            return CodeSearchResult(trouble="the folder of the pane is not known")
        if not is_installed(AST_GREP):
            return CodeSearchResult(trouble="ast-grep is not installed, so no code was searched")
        places: list[str] = []
        for name in wanted:
            found, trouble = await _run_ast_grep(name, folder, run_program)
            if trouble:
                return CodeSearchResult(places=tuple(places), trouble=redact(trouble)[:_MAX_LINE_CHARS])
            places += found
        return CodeSearchResult(places=tuple(places))


async def _run_ast_grep(name: str, folder: str, run_program: ProgramRunner) -> tuple[list[str], str]:
    try:
        outcome = await run_program(
            RunProgram(argv=(AST_GREP, "run", "--json=compact", "--pattern", name, "--", folder))
        )
    except Refused as error:
        return [], f"ast-grep was not asked: {error.message}"
    said = outcome.answered
    if said is None:
        return [], explain_missing_output(outcome, AST_GREP)
    if said.exit_status not in (0, 1):  # 1 means that nothing was found
        return [], f"ast-grep: {said.errors.decode('utf-8', 'replace').strip().rpartition(chr(10))[2]}"
    try:
        found = msgspec.json.decode(said.out or b"[]", type=list[_AstGrepMatch])
    except msgspec.DecodeError:
        return [], "the answer of ast-grep is no JSON that we know"
    return list(_format_places(found, folder)), ""


def _format_places(matches: Sequence[_AstGrepMatch], folder: str) -> Iterator[str]:
    """One place a line of code; those of definitions first."""
    lines = {(one.file, one.range.start.line): one.lines.strip().split("\n")[0] for one in matches}
    ordered = sorted(lines.items(), key=lambda one: (not _is_definition(one[1]), one[0]))
    for (file, line), text in ordered[:_MAX_PLACES_PER_NAME]:
        shown = file.removeprefix(folder.rstrip("/") + "/")
        yield redact(f"{shown}:{line + 1}: {text}")[:_MAX_LINE_CHARS]


def _is_definition(text: str) -> bool:
    return (
        re.match(
            r"(export |pub |async |public |static )*(def|class|fn|func|function|struct|type|interface|const)\b", text
        )
        is not None
    )
