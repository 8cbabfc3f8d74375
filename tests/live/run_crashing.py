"""The real daemon, which kills itself at the nth write of the runs' journal: `python -m tests.live.run_crashing`."""

import sys

from tests.live import crashing

MOMENTS = {
    "before a step is written": ("termvisor.store.runs", "Runs", "put", "before"),
    "after a step is written": ("termvisor.store.runs", "Runs", "put", "after"),
}

if __name__ == "__main__":
    from termvisor.daemon import foreground

    crashing.MOMENTS.update(MOMENTS)
    if sys.argv[1] != crashing.NEVER:
        crashing.arm(sys.argv[1], int(sys.argv[2]))
    sys.exit(foreground.run())
