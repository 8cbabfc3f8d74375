"""Run the real daemon and kill it at the nth write of the run journal or the notification outbox.

Usage: `python -m tests.live.crashing_workflow_daemon <moment> <nth>`.
"""

import sys

from tests.live import crashing_send_daemon

JOURNAL_MOMENTS = {
    "before a step is written": ("termvisor.store.tables.workflow_runs", "WorkflowRunTable", "save_step", "before"),
    "after a step is written": ("termvisor.store.tables.workflow_runs", "WorkflowRunTable", "save_step", "after"),
}
NOTICE_MOMENTS = {
    f"{when} a notice is {stage}": ("termvisor.store.tables.notification_outbox", "NotificationOutbox", name, when)
    for name, stage in (("add_pending", "owed"), ("record_attempt", "begun"), ("finish", "ended"))
    for when in ("before", "after")
}

if __name__ == "__main__":
    from termvisor.daemon import main

    crashing_send_daemon.SEND_MOMENTS.update(JOURNAL_MOMENTS | NOTICE_MOMENTS)
    if sys.argv[1] != crashing_send_daemon.NEVER:
        crashing_send_daemon.arm_crash(sys.argv[1], int(sys.argv[2]))
    sys.exit(main.run())
