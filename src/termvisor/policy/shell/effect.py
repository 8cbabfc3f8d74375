"""An Effect is what one call does, as far as its words tell: what it runs in turn, which paths and hosts it touches."""

from collections.abc import Callable

from msgspec import Struct

from termvisor.policy.shell.call import ProgramCall
from termvisor.policy.shell.word import ShellWord


class CommandEffect(Struct, frozen=True, kw_only=True):
    """``classes`` are names of command classes; ``calls`` and ``scripts`` are looked at in their turn."""

    classes: tuple[str, ...] = ()
    calls: tuple[ProgramCall, ...] = ()
    scripts: tuple[ShellWord, ...] = ()
    reads: tuple[ShellWord, ...] = ()
    writes: tuple[ShellWord, ...] = ()
    removes: tuple[ShellWord, ...] = ()
    """Paths that are removed or moved with all that is in them."""
    hosts: tuple[str, ...] = ()
    moves_to: ShellWord | None = None
    """The folder in which the next calls run."""
    fetches: tuple[str, ...] = ()
    """Names of the files that it gets from another machine."""


NO_EFFECT = CommandEffect()
EffectAnalyzer = Callable[[ProgramCall], CommandEffect]
"""How the words of one program are read."""


def merge_effects(*effects: CommandEffect) -> CommandEffect:
    """All of them together."""
    return CommandEffect(
        classes=tuple(dict.fromkeys(name for one in effects for name in one.classes)),
        calls=sum((one.calls for one in effects), ()),
        scripts=sum((one.scripts for one in effects), ()),
        reads=sum((one.reads for one in effects), ()),
        writes=sum((one.writes for one in effects), ()),
        removes=sum((one.removes for one in effects), ()),
        hosts=sum((one.hosts for one in effects), ()),
        moves_to=next((one.moves_to for one in effects if one.moves_to), None),
        fetches=sum((one.fetches for one in effects), ()),
    )
