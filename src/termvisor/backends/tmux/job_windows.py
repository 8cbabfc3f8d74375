"""Open windows for jobs: on a private tmux server, or in a named session of the user's server.

In the user's session the window is appended without changing what is shown there: no client switches to it, it raises
no bell or activity flag, and no window gets another index.
"""

import os

from termvisor.backends.tmux.commands import TmuxCommand, TmuxReply
from termvisor.backends.tmux.pane_source import TmuxServer
from termvisor.backends.tmux.server_safety import check_hazards
from termvisor.backends.tmux.server_sockets import is_server_listening
from termvisor.errors import MuxError
from termvisor.model.ids import MuxPaneId
from termvisor.model.job import JobSpec
from termvisor.system.subprocesses import run_isolated

_FORMAT = "#{pane_id} #{pane_pid}"
_SILENT_OPTIONS = (
    ("monitor-activity", "off"),
    ("monitor-bell", "off"),
    ("monitor-silence", "0"),
    ("automatic-rename", "off"),
    ("allow-rename", "off"),
    # The window closes with its job, whatever the user set for others; the row of the job says how it ended.
    ("remain-on-exit", "off"),
)
_SERVER_OPTIONS = (
    "set-option -s exit-empty off",
    "set-option -g default-terminal tmux-256color",
    "set-option -g status off",
    "set-option -g history-limit 2000",
    "set-option -g mouse off",
)


async def start_job_server(program: str, socket: str) -> None:
    """Start the private server unless it listens. It outlives the daemon. Raises MuxError."""
    if is_server_listening(socket):
        return
    options = [word for line in _SERVER_OPTIONS for word in (";", *line.split())]
    # Without the user's configuration, which may change what a terminal does.
    argv = [program, "-f", os.devnull, "-S", socket, "start-server", *options]
    status, _, errors = await run_isolated(argv, timeout_s=10.0)
    if status != 0 or not is_server_listening(socket):
        raise MuxError(f"the tmux server for jobs cannot be started: {errors.decode(errors='replace').strip()}")


async def release_job_server(program: str, socket: str) -> None:
    """Let the private server exit once its last job has ended."""
    if is_server_listening(socket):
        await run_isolated([program, "-S", socket, "set-option", "-s", "exit-empty", "on"], timeout_s=5.0)


async def open_private_window(
    server: TmuxServer, name: str, spec: JobSpec, command: tuple[str, ...]
) -> tuple[MuxPaneId, int]:
    """Open a session of one window for a job; return its pane and process id. Raises MuxError."""
    size = ("-x", str(spec.columns or 80), "-y", str(spec.rows or 24))
    reply = await server.client.request(
        TmuxCommand("new-session", "-d", "-E", "-P", "-F", _FORMAT, *size, "-s", name, "-n", name, "--", *command)
    )
    return _parse_pane(reply)


async def open_session_window(
    server: TmuxServer, name: str, spec: JobSpec, command: tuple[str, ...]
) -> tuple[MuxPaneId, int]:
    """Append a window to the session, which is made if it is missing; return its pane and process id.

    Raises MuxError.
    """
    # Behind the last window: the first free index could be between the user's.
    place = ("-a", "-t", f"={spec.session}:{{end}}")
    window = TmuxCommand("new-window", "-d", "-P", "-F", _FORMAT, *place, "-n", name, "--", *command)
    await check_hazards(server.client, server.version, window)
    reply = await server.client.request(window)
    if "can't find session" in reply.error:
        reply = await server.client.request(
            TmuxCommand("new-session", "-d", "-E", "-P", "-F", _FORMAT, "-s", spec.session, "-n", name, "--", *command)
        )
    pane, pid = _parse_pane(reply)
    # The job prints nothing before all is set: its wrapper waits.
    await server.client.request(
        *(TmuxCommand("set-option", "-wq", "-t", pane, option, value) for option, value in _SILENT_OPTIONS)
    )
    return pane, pid


def _parse_pane(reply: TmuxReply) -> tuple[MuxPaneId, int]:
    words = reply.lines[-1].decode("ascii", "replace").split() if reply.lines else []
    if len(words) != 2 or reply.error:
        raise MuxError(f"tmux cannot open a window for the job: {reply.error or 'no answer'}")
    return MuxPaneId(words[0]), int(words[1])
