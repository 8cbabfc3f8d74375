"""Find tmux server sockets: those named in the settings, or those in the user's tmux folder.

A socket is probed by connecting, never by running tmux, which would start a server on a stale socket.
"""

import os
import socket
import stat

from termvisor.settings import Paths, Settings, get_tmux_socket_folder


def list_candidate_sockets(paths: Paths, settings: Settings, folder: str | None = None) -> list[str]:
    """Return the socket paths to watch, including those of the demo and of jobs but not the replay server's.

    A server need not be listening on them.
    """
    folder_path = get_tmux_socket_folder() if folder is None else folder
    sockets = (
        [f"{folder_path}/default", *_list_sockets(folder_path)]
        if settings.tmux_sockets is None
        else list_configured_sockets(settings, folder_path)
    )
    return [
        path for path in dict.fromkeys([*sockets, paths.demo_socket, paths.job_socket]) if path != paths.render_socket
    ]


def list_configured_sockets(settings: Settings, folder: str | None = None) -> list[str]:
    """Return the socket paths named in the settings."""
    folder_path = get_tmux_socket_folder() if folder is None else folder
    return [name if "/" in name else f"{folder_path}/{name}" for name in settings.tmux_sockets or ()]


def is_server_listening(path: str) -> bool:
    """Return True if a server of this user accepts connections at the path."""
    try:
        info = os.stat(path)
        if not stat.S_ISSOCK(info.st_mode) or info.st_uid != os.getuid():
            return False
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(1.0)
            probe.connect(path)
    except OSError:
        # No socket, a stale one, or one we may not use.
        return False
    return True


def _list_sockets(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.path for entry in entries if stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode))
    except OSError:
        # The folder does not exist until the first tmux server starts.
        return []
