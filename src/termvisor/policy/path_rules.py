"""Resolve and compare paths as a shell or a file write would, without accessing the disk.

Different spellings of a path are equal: `~`, `..`, `//`, globs and letter case are resolved. Symbolic links are not:
the caller resolves them first if the disk is available.
"""

import posixpath
import re
from functools import lru_cache

from msgspec import Struct

NEVER_WRITTEN_FOLDERS = (".ssh", ".gnupg")
"""Folders of keys, in the home of any user."""

_PROCESS_ROOT = re.compile(r"^/proc/[^/]+/(?:root|task/[^/]+/root)(?=/|$)")
_GLOB = re.compile(r"[*?\[]")
_OTHER_HOME = re.compile(r"^~([a-z_][\w-]*)")


class PathScope(Struct, frozen=True, kw_only=True):
    """What paths are relative to. ``own_paths`` are Termvisor's own folders and files. Empty means unknown."""

    home: str = ""
    cwd: str = ""
    own_paths: tuple[str, ...] = ()


def resolve_path(text: str, scope: PathScope, cwd: str | None = None) -> str:
    """Return the absolute, normalized path; it stays relative if the folder is unknown."""
    base = scope.cwd if cwd is None else cwd
    path = _expand_tilde(text, scope.home, base)
    if not path.startswith(("/", "~")):
        path = f"{base}/{path}" if base else path
    normal = posixpath.normpath(path) if path else ""
    normal = "/" + normal.lstrip("/") if normal.startswith("/") else normal
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
    """Return the never-written folder that contains this path or is inside it, for removing or moving a folder."""
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
    """Compile a path glob; `/**` at the end matches the folder itself too."""
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
    """Return True if a path is in a folder. The path may contain globs, or the folder if not ``is_pattern_first``."""
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
    if not _GLOB.search(pattern) or (name.startswith(".") and pattern[0] in "*?"):  # a shell's * skips dot files
        return False
    return _compile_name_glob(pattern).fullmatch(name) is not None


@lru_cache(256)
def _compile_name_glob(pattern: str) -> re.Pattern[str]:
    """Compile a glob of one name; a class `[…]` matches any character."""
    text = re.sub(r"\\\[.*?\\\]", ".", re.escape(pattern))
    return re.compile(re.sub(r"(?:\\\*)+", ".*", text).replace(r"\?", "."), re.DOTALL)
