"""Paths that mean more than a file: the roots of a system, disks, sockets, and files that run by themselves later."""

import posixpath
import re
from typing import Literal

from termvisor.policy.path_rules import Scope

Meaning = Literal["", "nothing", "disk", "socket", "system"]

_SYSTEM = "/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /mnt /media /opt /proc /root /run /sbin /srv /sys /usr /var"
_SYSTEM += " /usr/bin /usr/lib /usr/local /usr/sbin /usr/share /var/lib /var/log /users /system /library /applications"
_SYSTEM += " /private /volumes /nix /nix/store"
_ROOTS = frozenset(_SYSTEM.split())
_HOME = re.compile(r"^(?:~[\w-]*|/(?:home|users)/[^/]+)$", re.IGNORECASE)
_ALL_INSIDE = re.compile(r"^(?:\*+|\.\*|\.\?\*|\.\[[^\]]*\]\*|\{?\.?\*)$")
_QUIET = re.compile(r"^/dev/(?:null|zero|full|random|urandom|tty\w*|stdin|stdout|stderr|fd/\d+|pts/\d+|shm/.*)$")
_DISK = re.compile(r"^/dev/(?:[shv]d[a-z*?\[]|nvme|mmcblk|r?disk|mapper/|md\d|dm-|loop\d|mem|kmem|xvd)")
_SOCKET = re.compile(r"^/dev/(?:tcp|udp)/([^/]+)")
_RUNS_LATER = re.compile(
    r"(?:^|/)(?:\.(?:bash|zsh)(?:rc|env|_profile|_login|_logout|_aliases)|\.z(?:shenv|shrc|profile|login)|\.profile"
    r"|\.bashrc|\.inputrc|\.xinitrc|\.xsessionrc|\.tmux\.conf|\.vimrc|\.gitconfig|\.config/(?:fish|autostart|systemd|git"
    r"|nvim|tmux)/.*|\.git/(?:hooks/.*|config)|launchagents/.*|launchdaemons/.*|crontabs?/.*|authorized_keys)$",
    re.IGNORECASE,
)
_SYSTEM_FOLDER = re.compile(
    r"^/(?:etc|usr|boot|lib\w*|bin|sbin|var/(?:spool/cron|lib)|opt|system|library)/", re.IGNORECASE
)


def is_root(path: str, scope: Scope) -> bool:
    """Whether removing this resolved path, or all that is in it, would take away a system or a home."""
    parent, name = posixpath.split(path)
    whole = parent if _ALL_INSIDE.match(name) else path
    plain = whole.casefold() or "/"
    is_home = bool(scope.home) and plain == posixpath.normpath(scope.home).casefold()
    return plain in _ROOTS or is_home or bool(_HOME.match(whole))


def meaning(path: str) -> Meaning:
    """What writing to this resolved path means."""
    if _QUIET.match(path):
        return "nothing"
    if _DISK.match(path):
        return "disk"
    if _SOCKET.match(path):
        return "socket"
    return "system" if _SYSTEM_FOLDER.match(path) or _RUNS_LATER.search(path) else ""


def socket_host(path: str) -> str:
    match = _SOCKET.match(path)
    return match[1] if match else ""
