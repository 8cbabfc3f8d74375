"""Run the daemon process: `visor daemon --foreground`.

Invariant: asyncio is imported without ssl, which saves about 4 MB of memory, and msgspec without typing_extensions.
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
    from termvisor.errors import VisorError, format_error
    from termvisor.settings import load_settings, resolve_paths
    from termvisor.system.malloc import limit_arenas

    # Must run before the first thread starts; otherwise each thread would get its own malloc arena.
    limit_arenas()
    raise_descriptor_limit()
    try:
        paths = resolve_paths()
        run_daemon(paths, load_settings(paths), open_services)
    except (VisorError, BaseExceptionGroup) as raised:
        error = find_first_cause(raised)
        if not isinstance(error, VisorError):
            raise
        sys.stderr.write(format_error(error))
        return error.exit_status
    return 0


def _import_without(name: str, excluded: str) -> None:
    """Import a module while blocking the import of another, optional one."""
    previous = sys.modules.get(excluded)
    # None in sys.modules makes the import system raise ModuleNotFoundError.
    cast("dict[str, object]", sys.modules)[excluded] = None
    try:
        __import__(name)
    finally:
        del sys.modules[excluded]
        if previous is not None:
            sys.modules[excluded] = previous


def find_first_cause(error: BaseException) -> BaseException:
    """Return the first exception inside nested exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
