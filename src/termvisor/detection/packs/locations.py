"""Where packs are: beside this file, in installed packages, and in the user's own folder."""

import os
from collections.abc import Iterator, Sequence

from termvisor import plugins
from termvisor.detection.packs.pack import Origin, Pack, Trouble
from termvisor.detection.packs.rule_file import line_of, parse, read_text
from termvisor.redaction import redact

CARD = "pack.toml"
_KEYS = {"name", "version", "description"}
_CORE = os.path.join(os.path.dirname(__file__), "core")


def user_folder(config_dir: str) -> str:
    return f"{config_dir}/packs"


def every(folders: Sequence[str]) -> Iterator[Pack | Trouble]:
    """Built-in ones, those of installed packages, then those in the given folders; by name within each."""
    yield from inside(_CORE, "builtin")
    yield from _installed()
    for folder in folders:
        yield from inside(folder, "user")


def builtin(name: str) -> Pack | None:
    """Of our own, the one in the folder of this name."""
    found = card(f"{_CORE}/{name}", "builtin") if os.path.isdir(f"{_CORE}/{name}") else None
    return found if isinstance(found, Pack) else None


def card(folder: str, origin: Origin, name: str = "") -> Pack | Trouble:
    """A pack's `pack.toml`; one without is called like its folder."""
    path = f"{folder}/{CARD}"
    if not os.path.exists(path):
        return Pack(name=name or os.path.basename(folder.rstrip("/")), origin=origin, folder=folder)
    text = read_text(path)
    if isinstance(text, Trouble):
        return text
    values = parse(text, path)
    if isinstance(values, Trouble):
        return values
    for key, value in values.items():
        if key not in _KEYS:
            return Trouble(
                file=path, line=line_of(key, text), key=key, why="unknown; a pack has name, version, description"
            )
        if not isinstance(value, str) or not value.strip():
            return Trouble(file=path, line=line_of(key, text), key=key, why="is not a text")
    for key in ("name", "version"):
        if key not in values:
            return Trouble(file=path, key=key, why="is missing")
    return Pack(**values, origin=origin, folder=folder)


def files(pack: Pack) -> list[str]:
    """The files of its rules, sorted."""
    return listed(pack)[0]


def listed(pack: Pack) -> tuple[list[str], list[Trouble]]:
    """The files of its rules, sorted; or why nobody knows which there are."""
    try:
        names = sorted(os.listdir(pack.folder))
    except OSError as error:
        return [], [Trouble(file=pack.folder, why=f"cannot be read: {error.strerror}")]
    return [f"{pack.folder}/{name}" for name in names if name.endswith(".toml") and name != CARD], []


def inside(parent: str, origin: Origin) -> Iterator[Pack | Trouble]:
    try:
        names = sorted(os.listdir(parent))
    except FileNotFoundError:
        return
    except OSError as error:
        yield Trouble(file=parent, why=f"cannot be read: {error.strerror}")
        return
    for name in names:
        folder = f"{parent}/{name}"
        if name[0] in "._":
            continue
        if os.path.isdir(folder):
            yield card(folder, origin)
        elif name.endswith(".toml"):
            yield Trouble(file=folder, why=f"is in no pack: put it into a folder beside it, such as {parent}/org.local")


def _installed() -> Iterator[Pack | Trouble]:
    found, broken = plugins.read("packs")
    for name, why in broken.items():
        yield Trouble(file=name, why=f"cannot be loaded: {redact(why)}")
    for name, thing in found.items():
        path = next(iter(getattr(thing, "__path__", ())), thing)
        folder = os.fspath(path) if isinstance(path, str | os.PathLike) else ""
        is_folder = os.path.isdir(folder)
        yield card(str(folder), "installed", name) if is_folder else Trouble(file=name, why="is no folder of rules")
