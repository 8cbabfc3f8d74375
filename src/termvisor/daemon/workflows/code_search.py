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
from termvisor.model.action.outcome import RunIt, untold
from termvisor.redaction import redact
from termvisor.system.subprocesses import is_installed
from termvisor.workflows.calls import CodeFound

PROGRAM = "ast-grep"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,79}")
_NAMES = 3
_PLACES = 4
"""How many places of one name are told."""
_WIDEST = 160


class _Start(Struct, frozen=True):
    line: int = 0


class _Range(Struct, frozen=True):
    start: _Start = _Start()


class _Match(Struct, frozen=True):
    file: str
    lines: str = ""
    range: _Range = _Range()


class LiveCode:
    """The program is run by who asks, through the gate."""

    async def search(self, names: Sequence[str], folder: str, run_it: RunIt) -> CodeFound:
        wanted = [name for name in dict.fromkeys(names) if _NAME.fullmatch(name)][:_NAMES]
        if not wanted:
            return CodeFound(trouble="there is no name to look for")
        if not folder.startswith("/"):
            return CodeFound(trouble="the folder of the pane is not known")
        if not is_installed(PROGRAM):
            return CodeFound(trouble="ast-grep is not installed, so no code was searched")
        places: list[str] = []
        for name in wanted:
            found, trouble = await _asked(name, folder, run_it)
            if trouble:
                return CodeFound(places=tuple(places), trouble=redact(trouble)[:_WIDEST])
            places += found
        return CodeFound(places=tuple(places))


async def _asked(name: str, folder: str, run_it: RunIt) -> tuple[list[str], str]:
    try:
        outcome = await run_it(RunProgram(argv=(PROGRAM, "run", "--json=compact", "--pattern", name, "--", folder)))
    except Refused as error:
        return [], f"ast-grep was not asked: {error.message}"
    said = outcome.answered
    if said is None:
        return [], untold(outcome, PROGRAM)
    if said.exit_status not in (0, 1):  # 1 means that nothing was found
        return [], f"ast-grep: {said.errors.decode('utf-8', 'replace').strip().rpartition(chr(10))[2]}"
    try:
        found = msgspec.json.decode(said.out or b"[]", type=list[_Match])
    except msgspec.DecodeError:
        return [], "the answer of ast-grep is no JSON that we know"
    return list(_told(found, folder)), ""


def _told(found: Sequence[_Match], folder: str) -> Iterator[str]:
    """One place a line of code; those of definitions first."""
    lines = {(one.file, one.range.start.line): one.lines.strip().split("\n")[0] for one in found}
    ordered = sorted(lines.items(), key=lambda one: (not _defines(one[1]), one[0]))
    for (file, line), text in ordered[:_PLACES]:
        shown = file.removeprefix(folder.rstrip("/") + "/")
        yield redact(f"{shown}:{line + 1}: {text}")[:_WIDEST]


def _defines(text: str) -> bool:
    return (
        re.match(
            r"(export |pub |async |public |static )*(def|class|fn|func|function|struct|type|interface|const)\b", text
        )
        is not None
    )
