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
    from termvisor.daemon.assembly import open_services
    from termvisor.daemon.lifecycle import raise_descriptor_limit
    from termvisor.daemon.run import run_daemon
    from termvisor.errors import VisorError
    from termvisor.protocol import error_line
    from termvisor.settings import load_settings, resolve_paths
    from termvisor.system.malloc import limit_arenas

    limit_arenas()
    raise_descriptor_limit()
    try:
        where = resolve_paths()
        run_daemon(where, load_settings(where), open_services)
    except (VisorError, BaseExceptionGroup) as raised:
        error = find_first_cause(raised)
        if not isinstance(error, VisorError):
            raise
        sys.stderr.write(error_line.format_error(error))
        return error.exit_status
    return 0


def _import_without(name: str, excluded: str) -> None:
    """Import a module that can do without the other one; whoever else wants that still gets it."""
    was = sys.modules.get(excluded)
    cast("dict[str, object]", sys.modules)[excluded] = None  # as the import system spells "not here"
    try:
        __import__(name)
    finally:
        del sys.modules[excluded]
        if was is not None:
            sys.modules[excluded] = was


def find_first_cause(error: BaseException) -> BaseException:
    """What really happened, out of the groups around it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
