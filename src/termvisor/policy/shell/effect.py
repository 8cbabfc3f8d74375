"""The effect of one program call, as far as its words show: what it runs, and which paths and hosts it uses."""

from collections.abc import Callable

from msgspec import Struct

from termvisor.policy.shell.call import ProgramCall
from termvisor.policy.shell.word import ShellWord


class CommandEffect(Struct, frozen=True, kw_only=True):
    """``classes`` are names of command classes; ``calls`` and ``scripts`` are analyzed in turn."""

    classes: tuple[str, ...] = ()
    calls: tuple[ProgramCall, ...] = ()
    scripts: tuple[ShellWord, ...] = ()
    reads: tuple[ShellWord, ...] = ()
    writes: tuple[ShellWord, ...] = ()
    removes: tuple[ShellWord, ...] = ()
    """Paths that are removed or moved with their contents."""
    hosts: tuple[str, ...] = ()
    moves_to: ShellWord | None = None
    """The folder in which the next calls run."""
    fetches: tuple[str, ...] = ()
    """Names of the files that it downloads."""


NO_EFFECT = CommandEffect()
EffectAnalyzer = Callable[[ProgramCall], CommandEffect]
"""Analyzes the words of one program."""


def merge_effects(*effects: CommandEffect) -> CommandEffect:
    """Combine effects: concatenate their lists without repeating classes; the first folder change counts."""
    return CommandEffect(
        classes=tuple(dict.fromkeys(name for effect in effects for name in effect.classes)),
        calls=sum((effect.calls for effect in effects), ()),
        scripts=sum((effect.scripts for effect in effects), ()),
        reads=sum((effect.reads for effect in effects), ()),
        writes=sum((effect.writes for effect in effects), ()),
        removes=sum((effect.removes for effect in effects), ()),
        hosts=sum((effect.hosts for effect in effects), ()),
        moves_to=next((effect.moves_to for effect in effects if effect.moves_to), None),
        fetches=sum((effect.fetches for effect in effects), ()),
    )
