"""Where names stand in code, asked of `ast-grep`: a program that knows the structure of many languages, if it is there.

It only reads, below one folder, within a few seconds. It starts in the root folder: its settings, which may name
libraries to load, are looked for from there, and never in a project of strangers. Names are plain identifiers: nothing
that a screen shows becomes an option or a pattern of its own.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from termvisor.redact import redact
from termvisor.settings import environment
from termvisor.spawn import ask
from termvisor.workflow.call import CodeFound

PROGRAMS = ("ast-grep", "sg")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,79}")
_NAMES = 3
_PLACES = 4
"""How many places of one name are told."""
_PATIENCE = 5.0
_LARGEST = 4 << 20
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
    """``environ`` is where the program is looked for; without one, that of this process."""

    def __init__(self, environ: Mapping[str, str] | None = None):
        self._environ = environ

    async def search(self, names: Sequence[str], folder: str) -> CodeFound:
        around = environment() if self._environ is None else self._environ
        wanted = [name for name in dict.fromkeys(names) if _NAME.fullmatch(name)][:_NAMES]
        if not wanted:
            return CodeFound(trouble="there is no name to look for")
        program = await asyncio.to_thread(_program, around)
        if program is None:
            return CodeFound(trouble="ast-grep is not installed, so no code was searched")
        places: list[str] = []
        for name in wanted:
            found, trouble = await asyncio.to_thread(_asked, program, name, folder, around)
            if trouble:
                return CodeFound(places=tuple(places), trouble=trouble)
            places += found
        return CodeFound(places=tuple(places))


def _program(environ: Mapping[str, str]) -> str | None:
    """Elsewhere `sg` is the program that runs a command with another group: it must say who it is."""
    import shutil  # half a megabyte of compressors for what is rarely asked

    for name in PROGRAMS:
        path = shutil.which(name, path=environ.get("PATH", ""))
        if path is not None and b"ast-grep" in ask([path, "--version"], timeout=_PATIENCE, env=environ)[1]:
            return path
    return None


def _asked(program: str, name: str, folder: str, environ: Mapping[str, str]) -> tuple[list[str], str]:
    argv = [program, "run", "--json=compact", "--pattern", name, folder]
    status, out, errors = ask(argv, timeout=_PATIENCE, env=environ, cwd="/")
    if status not in (0, 1) or len(out) > _LARGEST:  # 1 means that nothing was found
        words = errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
        return [], redact(f"ast-grep: {words or 'its answer is too long'}")[:_WIDEST]
    try:
        found = msgspec.json.decode(out or b"[]", type=list[_Match])
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
