"""The process of the daemon: `visor daemon --foreground`.

Invariant: asyncio is imported only after TLS was taken out of its way, which saves about 4 MB of memory for good;
msgspec without the newer typing, of which it needs nothing.
"""

import sys
from typing import cast


def run() -> int:
    if "asyncio" not in sys.modules:
        sys.modules["ssl"] = None  # type: ignore[assignment]
    if "msgspec" not in sys.modules:
        _import_without("msgspec", "typing_extensions")
    from termvisor.daemon.assembly import open_world
    from termvisor.daemon.lifecycle import raise_descriptor_limit
    from termvisor.daemon.run import serve
    from termvisor.errors import VisorError
    from termvisor.protocol import error_line as complaint
    from termvisor.settings import load, places
    from termvisor.system.malloc import share

    share()
    raise_descriptor_limit()
    try:
        where = places()
        serve(where, load(where), open_world)
    except (VisorError, BaseExceptionGroup) as raised:
        error = first_cause(raised)
        if not isinstance(error, VisorError):
            raise
        sys.stderr.write(complaint.said(error))
        return error.exit_status
    return 0


def _import_without(name: str, other: str) -> None:
    """Import a module that can do without the other one; whoever else wants that still gets it."""
    was = sys.modules.get(other)
    cast("dict[str, object]", sys.modules)[other] = None  # as the import system spells "not here"
    try:
        __import__(name)
    finally:
        del sys.modules[other]
        if was is not None:
            sys.modules[other] = was


def first_cause(error: BaseException) -> BaseException:
    """What really happened, out of the groups around it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
