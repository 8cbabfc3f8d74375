"""Resolve, compare and classify paths as a shell or a file write would, without accessing the disk.

Different spellings of a path are equal: `~`, `..`, `//`, globs and letter case are resolved. Symbolic links are not:
the caller must resolve them first if it can access the disk.
"""

import posixpath
import re
from functools import lru_cache
from typing import Literal

from msgspec import Struct

# Folders that hold keys, in any user's home.
NEVER_WRITTEN_FOLDERS = (".ssh", ".gnupg")
_PROCESS_ROOT = re.compile(r"^/proc/[^/]+/(?:root|task/[^/]+/root)(?=/|$)")
_GLOB = re.compile(r"[*?\[]")
_OTHER_HOME = re.compile(r"^~([a-z_][\w-]*)")
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
# Files that shells, editors, agents, multiplexers and key stores read when they start.
_CONFIGURATION = re.compile(
    r"(?:^|/)(?:\.(?:bash|zsh)(?:rc|env|_profile|_login|_logout|_aliases)|\.z(?:shenv|shrc|profile|login|logout)|\.k?shrc"
    r"|\.(?:profile|inputrc|xinitrc|xprofile|xsessionrc|pam_environment|vimrc|gvimrc|exrc|nanorc|emacs|screenrc|lesskey|gdbinit"
    r"|tmux\.conf|gitconfig|npmrc|pypirc|netrc|curlrc|wgetrc|mcp\.json|claude\.json|wezterm\.lua|envrc|aider\.conf\.yml)"
    r"|\.config/(?:fish|autostart|systemd|git|nvim|tmux|zsh|environment\.d|opencode|kitty|wezterm|emacs|gh|goose)/.*"
    r"|\.(?:claude|codex|gemini|opencode|cursor|copilot|aider|vim|emacs\.d|aws|kube|docker|password-store|oh-my-zsh)/.*"
    r"|opencode\.json|\.git/(?:hooks/.*|config|info/attributes)|\.husky/.*|launchagents/.*|launchdaemons/.*|crontabs?/.*"
    r"|authorized_keys)$",
    re.IGNORECASE,
)
_CONFIGURATION_NAMES = (
    ".bashrc .zshrc .profile .bash_profile .gitconfig .vimrc .tmux.conf .claude/settings.json .codex/config.toml"
    " .gemini/settings.json .mcp.json .claude.json .config/fish/config.fish .git/hooks/pre-commit .git/config .npmrc"
)
# Names that a pattern such as `~/.claud?/settings.json` is compared with.
_CONFIGURATION_TAILS = tuple(tuple(name.split("/")) for name in _CONFIGURATION_NAMES.split())
_TEMPORARY_FOLDER = re.compile(r"^/(?:private/)?(?:var/)?tmp(?:/|$)|^/dev/shm(?:/|$)|^/var/folders/")
_SYSTEM_FOLDER = re.compile(
    r"^/(?:etc|usr|boot|lib\w*|bin|sbin|var/(?:spool/cron|lib)|opt|system|library)/", re.IGNORECASE
)


class PathScope(Struct, frozen=True, kw_only=True):
    """The folders that paths are relative to. ``own_paths`` are Termvisor's own folders and files. Empty: unknown."""

    home: str = ""
    cwd: str = ""
    own_paths: tuple[str, ...] = ()


def resolve_path(text: str, scope: PathScope, cwd: str | None = None) -> str:
    """Return the absolute, normalized path, or a relative one if the folder is unknown."""
    base = scope.cwd if cwd is None else cwd
    path = _expand_tilde(text, scope.home, base)
    if not path.startswith(("/", "~")):
        path = f"{base}/{path}" if base else path
    normal = posixpath.normpath(path) if path else ""
    # normpath keeps two leading slashes, which POSIX leaves implementation-defined. Treat them as one.
    normal = "/" + normal.lstrip("/") if normal.startswith("/") else normal
    # /proc/<pid>/root is another name for the same files.
    return _PROCESS_ROOT.sub("", normal) or ("/" if normal else "")


def find_never_written_folder(path: str, scope: PathScope) -> str:
    """Return the never-written folder that contains this resolved path, or an empty string."""
    parts = _split_path(path)
    for folder in NEVER_WRITTEN_FOLDERS:
        if any(_matches_name(part, folder) for part in parts):
            return f"~/{folder}"
    return next(
        (folder for folder in scope.own_paths if _is_within(parts, _split_path(resolve_path(folder, scope)))), ""
    )


def find_never_written_inside(path: str, scope: PathScope) -> str:
    """Return the never-written folder that contains this path or lies in it. For removing or moving a folder."""
    folders = [*(f"~/{folder}" for folder in NEVER_WRITTEN_FOLDERS), *scope.own_paths]
    resolved = [resolve_path(folder, scope) for folder in folders]
    parts = _split_path(path)
    inside = (folder for folder in resolved if _is_within(_split_path(folder), parts, is_pattern_first=False))
    return find_never_written_folder(path, scope) or next(inside, "")


def find_matching_glob(path: str, globs: tuple[str, ...], scope: PathScope) -> str:
    """Return the first glob that matches the resolved path, or an empty string."""
    return next((glob for glob in globs if _compile_glob(_resolve_glob(glob, scope)).fullmatch(path)), "")


def _resolve_glob(glob: str, scope: PathScope) -> str:
    text = re.sub(r"^(?:\$HOME|\$\{HOME\})(?=/|$)", "~", glob)
    text = re.sub(r"^(?:\$CWD|\$\{CWD\})(?=/|$)", ".", text)
    return resolve_path(text, scope)


@lru_cache(256)
def _compile_glob(glob: str) -> re.Pattern[str]:
    """Compile a path glob. A trailing `/**` also matches the folder itself."""
    pattern = ""
    for piece in re.split(r"(/\*\*$|\*\*/?|\*|\?)", glob):
        pattern += {"/**": "(?:/.*)?", "**": ".*", "**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}.get(
            piece, re.escape(piece)
        )
    return re.compile(pattern, re.DOTALL)


def _expand_tilde(text: str, home: str, cwd: str) -> str:
    if text == "~" or text.startswith("~/"):
        return (home or "~") + text[1:]
    if text.startswith("~+"):
        return (cwd or ".") + text[2:]
    if text.startswith("~root"):
        return "/root" + text[5:]
    if match := _OTHER_HOME.match(text):
        return f"{posixpath.dirname(home) or '/home'}/{match[1]}{text[match.end() :]}"
    return f"./{text}" if text.startswith("~") else text


def _split_path(path: str) -> list[str]:
    return [part for part in path.casefold().split("/") if part]


def _is_within(path: list[str], folder: list[str], is_pattern_first: bool = True) -> bool:
    """Return True if the path is in the folder. ``is_pattern_first``: the path may contain globs, else the folder."""
    if len(path) < len(folder):
        return False
    pairs = zip(path, folder, strict=False)
    return all(
        _matches_name(name, folder_name) if is_pattern_first else _matches_name(folder_name, name)
        for name, folder_name in pairs
    )


def _matches_name(pattern: str, name: str) -> bool:
    if pattern == name:
        return True
    if not _GLOB.search(pattern) or (name.startswith(".") and pattern[0] in "*?"):  # * does not match dot files
        return False
    return _compile_name_glob(pattern).fullmatch(name) is not None


@lru_cache(256)
def _compile_name_glob(pattern: str) -> re.Pattern[str]:
    """Compile a glob for a single name. A class `[…]` matches any character."""
    text = re.sub(r"\\\[.*?\\\]", ".", re.escape(pattern))
    return re.compile(re.sub(r"(?:\\\*)+", ".*", text).replace(r"\?", "."), re.DOTALL)


def is_system_root(path: str, scope: PathScope) -> bool:
    """Return True if removing this resolved path or its contents would remove a system folder or a home."""
    parent, name = posixpath.split(path)
    whole = parent if _ALL_INSIDE.match(name) else path
    plain = whole.casefold() or "/"
    is_home = bool(scope.home) and plain == posixpath.normpath(scope.home).casefold()
    return plain in _SYSTEM_ROOTS or is_home or bool(_HOME_FOLDER.match(whole))


def contains_home(path: str, scope: PathScope) -> bool:
    """Return True if the resolved path is a home folder or contains one, and with it all keys and tokens."""
    folder = posixpath.dirname(path) if path.endswith("/*") else path
    home = scope.home or "/root"
    return f"{home}/".startswith(f"{folder.rstrip('/')}/") or bool(_HOME_FOLDER.match(folder))


def classify_path(path: str) -> PathKind:
    """Return which kind of special file this resolved path names; empty for an ordinary file."""
    if _HARMLESS_DEVICE.match(path):
        return "nothing"
    if _DISK.match(path):
        return "disk"
    if _SOCKET.match(path):
        return "socket"
    return "system" if _SYSTEM_FOLDER.match(path) or is_configuration(path) else ""


def is_configuration(path: str) -> bool:
    """Return True if the path, or a file that the pattern may match, configures a shell, an agent or keys."""
    is_pattern = _GLOB.search(path) is not None
    return bool(_CONFIGURATION.search(path)) or (
        is_pattern and any(matches_path_tail(path, tail) for tail in _CONFIGURATION_TAILS)
    )


def is_outside(path: str, scope: PathScope) -> bool:
    """Return True if the resolved path is neither in the current folder nor in a folder for temporary files."""
    if not path.startswith(("/", "~")):
        return path.startswith("..")
    is_inside = bool(scope.cwd) and f"{path}/".startswith(f"{scope.cwd.rstrip('/')}/")
    return not is_inside and not _TEMPORARY_FOLDER.match(path) and not _HARMLESS_DEVICE.match(path)


def matches_path_tail(pattern: str, tail: tuple[str, ...]) -> bool:
    """Return True if the pattern may match a path that ends with these names; after an empty name, from the root."""
    parts = pattern.casefold().rstrip("/").split("/")
    names = parts[-len(tail) :]
    if len(names) < len(tail) or (not tail[0] and len(parts) != len(tail)):
        return False
    return all(bool(part) == bool(name) and _matches_name(part, name) for part, name in zip(names, tail, strict=True))


def get_socket_host(path: str) -> str:
    match = _SOCKET.match(path)
    return match[1] if match else ""
