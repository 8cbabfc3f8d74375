"""Paths as a shell or a file write would reach them, compared without touching a disk.

A path that is written in another way is the same path: `~`, `..`, `//`, globs and other cases of letters are seen
through. Symbolic links are not: whoever has a disk resolves them before asking.
"""

import posixpath
import re
from functools import lru_cache

from msgspec import Struct

NEVER_WRITTEN_FOLDERS = (".ssh", ".gnupg")
"""Folders of keys, in whosever home they stand."""

_PROCESS_ROOT = re.compile(r"^/proc/[^/]+/(?:root|task/[^/]+/root)(?=/|$)")
_GLOB = re.compile(r"[*?\[]")
_OTHER_HOME = re.compile(r"^~([a-z_][\w-]*)")


class PathScope(Struct, frozen=True, kw_only=True):
    """What paths are relative to. ``own`` are Termvisor's own folders and files. Empty means not known."""

    home: str = ""
    cwd: str = ""
    own_paths: tuple[str, ...] = ()


def resolve_path(text: str, scope: PathScope, cwd: str | None = None) -> str:
    """The absolute, normal form; it stays relative where the folder is not known."""
    base = scope.cwd if cwd is None else cwd
    path = _expand_tilde(text, scope.home, base)
    if not path.startswith(("/", "~")):
        path = f"{base}/{path}" if base else path
    normal = posixpath.normpath(path) if path else ""
    normal = "/" + normal.lstrip("/") if normal.startswith("/") else normal
    return _PROCESS_ROOT.sub("", normal) or ("/" if normal else "")


def find_never_written_folder(path: str, scope: PathScope) -> str:
    """The folder that forbids writing to this resolved path; empty when none does."""
    parts = _split_path(path)
    for folder in NEVER_WRITTEN_FOLDERS:
        if any(_matches_name(part, folder) for part in parts):
            return f"~/{folder}"
    return next(
        (folder for folder in scope.own_paths if _is_within(parts, _split_path(resolve_path(folder, scope)))), ""
    )


def find_never_written_inside(path: str, scope: PathScope) -> str:
    """The same for removing or moving a whole folder: also what stands inside it counts."""
    places = [resolve_path(f"~/{folder}", scope) for folder in NEVER_WRITTEN_FOLDERS] + [
        resolve_path(one, scope) for one in scope.own_paths
    ]
    parts = _split_path(path)
    inside = (place for place in places if _is_within(_split_path(place), parts, is_pattern_first=False))
    return find_never_written_folder(path, scope) or next(inside, "")


def find_matching_glob(path: str, globs: tuple[str, ...], scope: PathScope) -> str:
    """The first of the globs that fits the resolved path; empty when none does."""
    return next((glob for glob in globs if _compile_glob(_resolve_glob(glob, scope)).fullmatch(path)), "")


def _resolve_glob(glob: str, scope: PathScope) -> str:
    text = re.sub(r"^(?:\$HOME|\$\{HOME\})(?=/|$)", "~", glob)
    text = re.sub(r"^(?:\$CWD|\$\{CWD\})(?=/|$)", ".", text)
    return resolve_path(text, scope)


@lru_cache(256)
def _compile_glob(glob: str) -> re.Pattern[str]:
    """`/**` at the end means the folder too."""
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
    """Whether a path stands in a folder. Either may hold globs: the path, or (last argument) the folder."""
    if len(path) < len(folder):
        return False
    pairs = zip(path, folder, strict=False)
    return all(_matches_name(one, other) if is_pattern_first else _matches_name(other, one) for one, other in pairs)


def _matches_name(pattern: str, name: str) -> bool:
    if pattern == name:
        return True
    if not _GLOB.search(pattern) or (name.startswith(".") and pattern[0] in "*?"):  # a shell hides dot files
        return False
    return _compile_name_glob(pattern).fullmatch(name) is not None


@lru_cache(256)
def _compile_name_glob(pattern: str) -> re.Pattern[str]:
    """One name with `*`, `?` and `[…]`; a class is taken as any character."""
    text = re.sub(r"\\\[.*?\\\]", ".", re.escape(pattern))
    return re.compile(re.sub(r"(?:\\\*)+", ".*", text).replace(r"\?", "."), re.DOTALL)
