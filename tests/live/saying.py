"""`visor …` for a person who starts no daemon: `python -m tests.live.saying approve <question>`."""

import sys

from termvisor.client import daemon_process as start
from termvisor.errors import Unavailable


def _nobody(*_args: object) -> None:
    raise Unavailable("no daemon takes clients")


if __name__ == "__main__":
    start._start = _nobody  # type: ignore[assignment]
    from termvisor.__main__ import main

    sys.exit(main())
