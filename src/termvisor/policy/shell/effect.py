"""An Effect is what one call does, as far as its words tell: what it runs in turn, which paths and hosts it touches."""

from collections.abc import Callable

from msgspec import Struct

from termvisor.policy.shell.call import Call
from termvisor.policy.shell.word import Word


class Effect(Struct, frozen=True, kw_only=True):
    """``classes`` are names of command classes; ``calls`` and ``scripts`` are looked at in their turn."""

    classes: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    scripts: tuple[Word, ...] = ()
    reads: tuple[Word, ...] = ()
    writes: tuple[Word, ...] = ()
    removes: tuple[Word, ...] = ()
    """Paths that are removed or moved with all that is in them."""
    hosts: tuple[str, ...] = ()
    moves_to: Word | None = None
    """The folder in which the next calls run."""
    fetches: tuple[str, ...] = ()
    """Names of the files that it gets from another machine."""


NOTHING = Effect()
Look = Callable[[Call], Effect]
"""How the words of one program are read."""


def plus(*effects: Effect) -> Effect:
    """All of them together."""
    return Effect(
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
