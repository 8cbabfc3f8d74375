"""Which tmux servers there are: sockets named by settings, or found in this user's tmux folder.

A socket is probed by connecting to it, never by running tmux: tmux would start a server on a stale one.
"""

import os
import socket
import stat

from termvisor.settings import Places, Settings, tmux_folder


def candidates(places: Places, settings: Settings, folder: str | None = None) -> list[str]:
    """Socket paths to watch, the demo's among them, never our own; whether anybody listens is another question."""
    where = tmux_folder() if folder is None else folder
    found = [f"{where}/default", *_sockets_in(where)] if settings.tmux_sockets is None else named(settings, where)
    return [path for path in dict.fromkeys([*found, places.demo_socket]) if path != places.render_socket]


def named(settings: Settings, folder: str | None = None) -> list[str]:
    """The paths of the sockets that the settings name."""
    where = tmux_folder() if folder is None else folder
    return [name if "/" in name else f"{where}/{name}" for name in settings.tmux_sockets or ()]


def answers(path: str) -> bool:
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


def _sockets_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.path for entry in entries if stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode))
    except OSError:
        return []
