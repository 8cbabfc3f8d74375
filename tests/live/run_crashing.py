"""The real daemon, which kills itself at the nth write of the runs' journal, or of the notices that are owed:
`python -m tests.live.run_crashing <moment> <nth>`."""

import sys

from tests.live import crashing

MOMENTS = {
    "before a step is written": ("termvisor.store.tables.workflow_runs", "Runs", "put", "before"),
    "after a step is written": ("termvisor.store.tables.workflow_runs", "Runs", "put", "after"),
}
NOTICES = {
    f"{when} a notice is {said}": ("termvisor.store.tables.notification_outbox", "Notices", name, when)
    for name, said in (("owe", "owed"), ("tried", "begun"), ("end", "ended"))
    for when in ("before", "after")
}

if __name__ == "__main__":
    from termvisor.daemon import main as foreground

    crashing.MOMENTS.update(MOMENTS | NOTICES)
    if sys.argv[1] != crashing.NEVER:
        crashing.arm(sys.argv[1], int(sys.argv[2]))
    sys.exit(foreground.run())
