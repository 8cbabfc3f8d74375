"""`visor …` without starting a daemon: `python -m tests.live.visor_without_start approve <request>`."""

import sys

from termvisor.client import daemon_process
from termvisor.errors import Unavailable


def _refuse_start(*_args: object) -> None:
    raise Unavailable("no daemon takes clients")


if __name__ == "__main__":
    daemon_process._start_daemon = _refuse_start  # type: ignore[assignment]
    from termvisor.__main__ import main

    sys.exit(main())
