"""Load plug-ins: the entry points ``termvisor.<kind>`` of installed packages.

Parses `entry_points.txt` directly: importing `importlib.metadata` would cost the daemon 3 MB.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pkgutil import resolve_name

from termvisor.log import get_logger

log = get_logger("plugins")


def load_plugins(kind: str, folders: Iterable[str] | None = None) -> dict[str, object]:
    """Return the plug-ins by name; log and skip those that fail to load."""
    plugins, errors = read_plugins(kind, folders)
    for name, error in errors.items():
        log.error("cannot load %s plug-in %s: %s", kind, name, error)
    return plugins


def read_plugins(kind: str, folders: Iterable[str] | None = None) -> tuple[dict[str, object], dict[str, str]]:
    """Return the loaded plug-ins and the load errors, each by plug-in name."""
    plugins: dict[str, object] = {}
    errors: dict[str, str] = {}
    for name, target in sorted(find_entry_points(kind, sys.path if folders is None else folders).items()):
        try:
            import_module(target.partition(":")[0])
            plugins[name] = resolve_name(target)
        except (Exception, SystemExit) as error:  # third-party code may raise anything; it must not stop the daemon
            errors[name] = f"{type(error).__name__}: {error}"
    return plugins, errors


def find_entry_points(kind: str, folders: Iterable[str]) -> dict[str, str]:
    """Return the entry points as a dict from name to `module:attribute`, without importing them."""
    return {
        name: target
        for folder in folders
        for text in _read_entry_point_files(folder)
        for name, target in _parse_section(text, kind)
    }


def _read_entry_point_files(folder: str) -> Iterator[str]:
    try:
        packages = [name for name in os.listdir(folder or ".") if name.endswith((".dist-info", ".egg-info"))]
    except OSError:  # sys.path may contain missing folders and zip files
        return
    for name in packages:
        try:
            with open(os.path.join(folder, name, "entry_points.txt"), encoding="utf-8", errors="replace") as file:
                yield file.read()
        except OSError:  # most packages have no entry points
            continue


def _parse_section(text: str, kind: str) -> Iterator[tuple[str, str]]:
    is_inside = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            is_inside = line == f"[termvisor.{kind}]"
        elif is_inside and "=" in line and not line.startswith(("#", ";")):
            name, _, target = line.partition("=")
            yield name.strip(), target.strip()
