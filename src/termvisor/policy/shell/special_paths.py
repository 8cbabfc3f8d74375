"""Classify special paths: system folders, disks, sockets, and files that are run automatically."""

import posixpath
import re
from typing import Literal

from termvisor.policy.path_rules import PathScope

PathKind = Literal["", "nothing", "disk", "socket", "system"]

_SYSTEM_ROOT_NAMES = (
    "/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /mnt /media /opt /proc /root /run /sbin /srv /sys /usr /var"
    " /usr/bin /usr/lib /usr/local /usr/sbin /usr/share /var/lib /var/log /users /system /library /applications"
    " /private /volumes /nix /nix/store"
)
_SYSTEM_ROOTS = frozenset(_SYSTEM_ROOT_NAMES.split())
_HOME_FOLDER = re.compile(r"^(?:~[\w-]*|/(?:home|users)/[^/]+)$", re.IGNORECASE)
_ALL_INSIDE = re.compile(r"^(?:\*+|\.\*|\.\?\*|\.\[[^\]]*\]\*|\{?\.?\*)$")
_HARMLESS_DEVICE = re.compile(
    r"^/dev/(?:null|zero|full|random|urandom|tty\w*|stdin|stdout|stderr|fd/\d+|pts/\d+|shm/.*)$"
)
_DISK = re.compile(r"^/dev/(?:[shv]d[a-z*?\[]|nvme|mmcblk|r?disk|mapper/|md\d|dm-|loop\d|mem|kmem|xvd)")
_SOCKET = re.compile(r"^/dev/(?:tcp|udp)/([^/]+)")
_AUTORUN_FILE = re.compile(
    r"(?:^|/)(?:\.(?:bash|zsh)(?:rc|env|_profile|_login|_logout|_aliases)|\.z(?:shenv|shrc|profile|login)|\.profile"
    r"|\.bashrc|\.inputrc|\.xinitrc|\.xsessionrc|\.tmux\.conf|\.vimrc|\.gitconfig|\.config/(?:fish|autostart|systemd|git"
    r"|nvim|tmux)/.*|\.git/(?:hooks/.*|config)|launchagents/.*|launchdaemons/.*|crontabs?/.*|authorized_keys)$",
    re.IGNORECASE,
)
_SYSTEM_FOLDER = re.compile(
    r"^/(?:etc|usr|boot|lib\w*|bin|sbin|var/(?:spool/cron|lib)|opt|system|library)/", re.IGNORECASE
)


def is_system_root(path: str, scope: PathScope) -> bool:
    """Return True if removing this resolved path, or everything in it, would remove a system folder or a home."""
    parent, name = posixpath.split(path)
    whole = parent if _ALL_INSIDE.match(name) else path
    plain = whole.casefold() or "/"
    is_home = bool(scope.home) and plain == posixpath.normpath(scope.home).casefold()
    return plain in _SYSTEM_ROOTS or is_home or bool(_HOME_FOLDER.match(whole))


def classify_path(path: str) -> PathKind:
    """Return what kind of special file this resolved path is; empty for an ordinary one."""
    if _HARMLESS_DEVICE.match(path):
        return "nothing"
    if _DISK.match(path):
        return "disk"
    if _SOCKET.match(path):
        return "socket"
    return "system" if _SYSTEM_FOLDER.match(path) or _AUTORUN_FILE.search(path) else ""


def get_socket_host(path: str) -> str:
    match = _SOCKET.match(path)
    return match[1] if match else ""
