"""Find rule packs: the built-in ones, those of installed packages, and those in the user's folder."""

import os
from collections.abc import Iterator, Sequence

from termvisor import plugins
from termvisor.detection.packs.pack import PackOrigin, RulePack, RuleProblem
from termvisor.detection.packs.rule_file import find_line, parse_toml, read_text
from termvisor.redaction import redact

PACK_FILE = "pack.toml"
_PACK_KEYS = {"name", "version", "description"}
_BUILTIN_FOLDER = os.path.join(os.path.dirname(__file__), "core")


def get_user_folder(config_dir: str) -> str:
    return f"{config_dir}/packs"


def find_packs(folders: Sequence[str]) -> Iterator[RulePack | RuleProblem]:
    """Yield the built-in packs, those of installed packages, then those in the folders; sorted by name within each."""
    yield from find_packs_in(_BUILTIN_FOLDER, "builtin")
    yield from _find_installed_packs()
    for folder in folders:
        yield from find_packs_in(folder, "user")


def find_builtin_pack(name: str) -> RulePack | None:
    folder = f"{_BUILTIN_FOLDER}/{name}"
    pack = read_pack_file(folder, "builtin") if os.path.isdir(folder) else None
    return pack if isinstance(pack, RulePack) else None


def read_pack_file(folder: str, origin: PackOrigin, name: str = "") -> RulePack | RuleProblem:
    """Read a pack's `pack.toml`; a pack without one is named after its folder."""
    path = f"{folder}/{PACK_FILE}"
    if not os.path.exists(path):
        return RulePack(name=name or os.path.basename(folder.rstrip("/")), origin=origin, folder=folder)
    text = read_text(path)
    if isinstance(text, RuleProblem):
        return text
    values = parse_toml(text, path)
    if isinstance(values, RuleProblem):
        return values
    for key, value in values.items():
        if key not in _PACK_KEYS:
            why = "is unknown; a pack has name, version, description"
            return RuleProblem(file=path, line=find_line(key, text), key=key, why=why)
        if not isinstance(value, str) or not value.strip():
            return RuleProblem(file=path, line=find_line(key, text), key=key, why="is not a text")
    for key in ("name", "version"):
        if key not in values:
            return RuleProblem(file=path, key=key, why="is missing")
    return RulePack(**values, origin=origin, folder=folder)


def list_rule_files(pack: RulePack) -> list[str]:
    return scan_rule_files(pack)[0]


def scan_rule_files(pack: RulePack) -> tuple[list[str], list[RuleProblem]]:
    """Return the sorted rule files of a pack, or the problem if the folder cannot be read."""
    try:
        names = sorted(os.listdir(pack.folder))
    except OSError as error:
        return [], [RuleProblem(file=pack.folder, why=f"cannot be read: {error.strerror}")]
    return [f"{pack.folder}/{name}" for name in names if name.endswith(".toml") and name != PACK_FILE], []


def find_packs_in(packs_folder: str, origin: PackOrigin) -> Iterator[RulePack | RuleProblem]:
    try:
        names = sorted(os.listdir(packs_folder))
    except FileNotFoundError:
        return
    except OSError as error:
        yield RuleProblem(file=packs_folder, why=f"cannot be read: {error.strerror}")
        return
    for name in names:
        folder = f"{packs_folder}/{name}"
        if name[0] in "._":
            continue
        if os.path.isdir(folder):
            yield read_pack_file(folder, origin)
        elif name.endswith(".toml"):
            why = f"is not in a pack: move it into a folder such as {packs_folder}/org.local"
            yield RuleProblem(file=folder, why=why)


def _find_installed_packs() -> Iterator[RulePack | RuleProblem]:
    values, broken = plugins.read_plugins("packs")
    for name, why in broken.items():
        yield RuleProblem(file=name, why=f"cannot be loaded: {redact(why)}")
    for name, value in values.items():
        path = next(iter(getattr(value, "__path__", ())), value)
        folder = str(os.fspath(path)) if isinstance(path, str | os.PathLike) else ""
        if os.path.isdir(folder):
            yield read_pack_file(folder, "installed", name)
        else:
            yield RuleProblem(file=name, why="is not a folder of rules")
