"""The process of the daemon: `visor daemon --foreground`.

Invariant: asyncio is imported only after TLS was taken out of its way, which saves about 4 MB of memory for good.
"""

import sys


def run() -> int:
    if "asyncio" not in sys.modules:
        sys.modules["ssl"] = None  # type: ignore[assignment]
    from termvisor.daemon.build import open_world
    from termvisor.daemon.life import raise_descriptor_limit
    from termvisor.daemon.serve import serve
    from termvisor.errors import VisorError
    from termvisor.settings import load, places
    from termvisor.wire import complaint

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


def first_cause(error: BaseException) -> BaseException:
    """What really happened, out of the groups around it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
