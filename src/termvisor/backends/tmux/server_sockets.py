"""Which tmux servers there are: sockets named by settings, or found in this user's tmux folder.

A socket is probed by connecting to it, never by running tmux: tmux would start a server on a stale one.
"""

import os
import socket
import stat

from termvisor.settings import Paths, Settings, get_tmux_socket_folder


def list_candidate_sockets(paths: Paths, settings: Settings, folder: str | None = None) -> list[str]:
    """Socket paths to watch, the demo's among them, never our own; whether anybody listens is another question."""
    where = get_tmux_socket_folder() if folder is None else folder
    found = (
        [f"{where}/default", *_list_sockets(where)]
        if settings.tmux_sockets is None
        else list_configured_sockets(settings, where)
    )
    return [path for path in dict.fromkeys([*found, paths.demo_socket]) if path != paths.render_socket]


def list_configured_sockets(settings: Settings, folder: str | None = None) -> list[str]:
    """The paths of the sockets that the settings name."""
    where = get_tmux_socket_folder() if folder is None else folder
    return [name if "/" in name else f"{where}/{name}" for name in settings.tmux_sockets or ()]


def is_server_listening(path: str) -> bool:
    """Whether a server of this user listens there."""
    try:
        found = os.stat(path)
        if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
            return False
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(1.0)
            probe.connect(path)
    except OSError:
        return False
    return True


def _list_sockets(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.path for entry in entries if stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode))
    except OSError:
        return []
