"""Start a tmux server with its first session, and with the user's settings, as `tmux new-session -d` does."""

import asyncio
import os

from termvisor.backends.tmux.commands import TmuxCommand, render_argv
from termvisor.errors import MuxError
from termvisor.model.ids import MuxPaneId
from termvisor.settings import get_environment
from termvisor.system.subprocesses import run_and_capture

# The user's settings may start plug-ins.
_START_TIMEOUT_S = 20.0
# They describe the pane in which the daemon was started, and no pane of the new server.
_PANE_VARIABLES = ("TMUX", "TMUX_PANE")


async def start_server(program: str, address: str, command: TmuxCommand) -> tuple[MuxPaneId, int]:
    """Start a server with the pane that ``command`` opens; return the pane's id and process id. Raises MuxError."""
    environment = {name: value for name, value in get_environment().items() if name not in _PANE_VARIABLES}
    # tmux creates the folder of its default socket only if no path is given.
    os.makedirs(os.path.dirname(address), 0o700, exist_ok=True)
    argv = [program, "-S", address, *render_argv([command])]
    status, out, errors = await asyncio.to_thread(run_and_capture, argv, timeout_s=_START_TIMEOUT_S, env=environment)
    words = out.decode("ascii", "replace").split()
    if status or len(words) != 2:
        reason = errors.decode("utf-8", "replace").strip() or f"exit status {status}"
        raise MuxError(f"tmux cannot start a server at {address}: {reason}")
    return MuxPaneId(words[0]), int(words[1])
