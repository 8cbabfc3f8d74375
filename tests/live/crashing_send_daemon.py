"""Run the real daemon and kill it at a chosen moment of a send.

Usage: `python -m tests.live.crashing_send_daemon <moment> <nth>`.

Between two lines of the daemon's own code nothing can be told from outside, so the moment is one of its calls: it dies
right before or right after the nth call of that kind, with SIGKILL, as if the machine's owner had done it.
"""

import os
import signal
import sys
from typing import Any

SEND_MOMENTS = {
    "before the journal begins": ("termvisor.store.tables.deliveries", "DeliveryTable", "begin", "before"),
    "after the journal began": ("termvisor.store.tables.deliveries", "DeliveryTable", "begin", "after"),
    "before the text": ("termvisor.backends.tmux.pane_control", "TmuxPaneControl", "write", "before"),
    "after the text": ("termvisor.backends.tmux.pane_control", "TmuxPaneControl", "write", "after"),
    "before the step to Enter": ("termvisor.store.tables.deliveries", "DeliveryTable", "record_step", "before"),
    "after the step to Enter": ("termvisor.store.tables.deliveries", "DeliveryTable", "record_step", "after"),
    "before Enter": ("termvisor.backends.tmux.pane_control", "TmuxPaneControl", "press", "before"),
    "after Enter": ("termvisor.backends.tmux.pane_control", "TmuxPaneControl", "press", "after"),
    "before the outcome": ("termvisor.store.tables.deliveries", "DeliveryTable", "end", "before"),
    "after the outcome": ("termvisor.store.tables.deliveries", "DeliveryTable", "end", "after"),
}
NEVER = "never"


def arm_crash(moment: str, nth: int) -> None:
    module, owner, name, when = SEND_MOMENTS[moment]
    kind = getattr(__import__(module, fromlist=[owner]), owner)
    real, calls = getattr(kind, name), iter(range(1, 1 << 30))

    async def call(*args: Any, **kwargs: Any) -> Any:
        is_last = next(calls) == nth
        if is_last and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        answer = await real(*args, **kwargs)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    setattr(kind, name, call)


if __name__ == "__main__":
    from termvisor.daemon import main

    if sys.argv[1] != NEVER:
        arm_crash(sys.argv[1], int(sys.argv[2]))
    sys.exit(main.run())
