"""Run the real daemon and kill it at a chosen moment of a send.

Usage: `python -m tests.live.crashing_send_daemon <moment> <nth>`.

The moment is a call in the daemon's own code, because nothing between two calls is visible from outside: the daemon
kills itself with SIGKILL right before or right after the nth call of that kind.
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
        result = await real(*args, **kwargs)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(kind, name, call)


if __name__ == "__main__":
    from termvisor.daemon import main

    if sys.argv[1] != NEVER:
        arm_crash(sys.argv[1], int(sys.argv[2]))
    sys.exit(main.run())
