"""What others add to the product: the entry points ``termvisor.<kind>`` of installed packages.

Read from their own small files: the library's reader of packages would cost the daemon three megabytes.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pkgutil import resolve_name

from termvisor.log import get_logger

log = get_logger("plugins")


def load_plugins(kind: str, folders: Iterable[str] | None = None) -> dict[str, object]:
    """All that were found, by name; one that cannot be loaded is told in the log and left out."""
    found, troubles = read_plugins(kind, folders)
    for name, why in troubles.items():
        log.error("the %s %s cannot be loaded: %s", kind, name, why)
    return found


def read_plugins(kind: str, folders: Iterable[str] | None = None) -> tuple[dict[str, object], dict[str, str]]:
    """All that were found, by name; and of those that cannot be loaded, why."""
    found: dict[str, object] = {}
    troubles: dict[str, str] = {}
    for name, where in sorted(find_entry_points(kind, sys.path if folders is None else folders).items()):
        try:
            import_module(where.partition(":")[0])
            found[name] = resolve_name(where)
        except (Exception, SystemExit) as error:  # foreign code may fail in any way, and must not take us with it
            troubles[name] = f"{type(error).__name__}: {error}"
    return found, troubles


def find_entry_points(kind: str, folders: Iterable[str]) -> dict[str, str]:
    """Names and the places that they stand for, without loading anything."""
    return {
        name: where
        for folder in folders
        for text in _read_entry_point_files(folder)
        for name, where in _parse_section(text, kind)
    }


def _read_entry_point_files(folder: str) -> Iterator[str]:
    try:
        packages = [name for name in os.listdir(folder or ".") if name.endswith((".dist-info", ".egg-info"))]
    except OSError:
        return
    for name in packages:
        try:
            with open(os.path.join(folder, name, "entry_points.txt"), encoding="utf-8", errors="replace") as file:
                yield file.read()
        except OSError:
            continue


def _parse_section(text: str, kind: str) -> Iterator[tuple[str, str]]:
    is_inside = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            is_inside = line == f"[termvisor.{kind}]"
        elif is_inside and "=" in line and not line.startswith(("#", ";")):
            name, _, where = line.partition("=")
            yield name.strip(), where.strip()
