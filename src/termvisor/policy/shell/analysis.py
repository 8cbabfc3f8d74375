"""The result of a command analysis: command classes with their positions, programs, paths and hosts."""

from msgspec import Struct


class CommandFinding(Struct, frozen=True):
    """A command class at a position: ``text`` is the analyzed text from ``start`` to ``end``."""

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
