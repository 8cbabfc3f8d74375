"""What was found in a command line: classes with the place where each was found, programs, paths and hosts."""

from msgspec import Struct


class CommandFinding(Struct, frozen=True):
    """``start`` and ``end`` are characters of the text that was looked at; ``text`` is what stands there."""

    name: str
    start: int
    end: int
    text: str


class CommandAnalysis(Struct, frozen=True, kw_only=True):
    """``lines`` are the commands without quotes and wrappers; paths are resolved. An unknown program is `?`."""

    findings: tuple[CommandFinding, ...] = ()
    programs: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    removes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()

    @property
    def classes(self) -> frozenset[str]:
        return frozenset(finding.name for finding in self.findings)
