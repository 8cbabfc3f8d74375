"""The workflows that there are: built-in, of other packages, and files of steps, read anew when they change."""

import os
from collections.abc import Sequence

from msgspec import Struct

from termvisor.errors import ConfigError
from termvisor.log import logger
from termvisor.workflow.base import Workflow, installed

SUFFIXES = (".yaml", ".yml", ".toml")
log = logger("workflow")
_Stamp = tuple[tuple[str, int, int], ...]


class Trouble(Struct, frozen=True, kw_only=True):
    """A file, or an entry point, that is not a workflow, and why."""

    file: str
    why: str


class Shelf:
    def __init__(self, folder: str, own: Sequence[Workflow] | None = None):
        self.folder = folder
        found, left_out = installed() if own is None else (own, {})
        self._own = {one.name: one for one in found}
        self._left_out = tuple(
            Trouble(file=f"entry point {name}", why=f"entry point {name}: {why}") for name, why in left_out.items()
        )
        self._files: dict[str, Workflow] = {}
        self._stamp: _Stamp | None = None
        self.troubles: tuple[Trouble, ...] = self._left_out

    def all(self) -> list[Workflow]:
        """By priority and name."""
        self._look()
        found = {**self._own, **self._files}
        return sorted(found.values(), key=lambda one: (one.priority, one.name))

    def find(self, name: str, version: int | None = None) -> Workflow | None:
        return next((one for one in self.all() if one.name == name and version in (None, one.version)), None)

    def _look(self) -> None:
        stamp = _stamp(self.folder)
        if stamp != self._stamp:
            self._stamp = stamp
            self._read([name for name, _, _ in stamp])

    def _read(self, names: Sequence[str]) -> None:
        """One that is wrong is told and left out; the others stand."""
        files: dict[str, Workflow] = {}
        troubles: list[Trouble] = []
        for name in names:
            path = os.path.join(self.folder, name)
            try:
                found = _load(path)
                if found.name in files or found.name in self._own:
                    raise ConfigError(f"{path}: there is a workflow {found.name!r} already")
                files[found.name] = found
            except ConfigError as error:
                log.error("a workflow is left out: %s", error.message)
                troubles.append(Trouble(file=path, why=error.message))
        self._files, self.troubles = files, (*self._left_out, *troubles)


def _load(path: str) -> Workflow:
    from termvisor.workflow.document import load  # YAML is loaded by those who use it

    return load(path)


def _stamp(folder: str) -> _Stamp:
    try:
        found = [entry for entry in os.scandir(folder) if entry.name.endswith(SUFFIXES)]
        stats = [(entry.name, entry.stat()) for entry in found]
    except OSError:
        return ()
    return tuple(sorted((name, one.st_mtime_ns, one.st_size) for name, one in stats))
