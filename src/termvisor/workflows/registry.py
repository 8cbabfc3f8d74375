"""The workflows that there are: built-in, of other packages, and files of steps, read anew when they change."""

import os
from collections.abc import Sequence

from msgspec import Struct

from termvisor.errors import ConfigError
from termvisor.log import logger
from termvisor.model.workflow.run import Run, Step
from termvisor.workflows.workflow import Workflow, installed

SUFFIXES = (".yaml", ".yml", ".toml")
log = logger("workflow")
_Stamp = tuple[tuple[str, int, int], ...]


class Trouble(Struct, frozen=True, kw_only=True):
    """A file, or an entry point, that is not a workflow, and why; ``name`` is the one that it had, or would have by its
    file."""

    file: str
    why: str
    name: str = ""


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

    def lost(self, run: Run, steps: Sequence[Step]) -> str:
        """Why a run cannot go on whose workflow is not here as it was when the run began, and where it stood."""
        other = self.find(run.workflow)
        why = "was changed after this run began" if other else f"is no longer there{self._trouble_of(run.workflow)}"
        step = steps[-1] if steps else None
        stood = (
            f"at step {step.number} ({step.kind} {step.name})".replace(" )", ")") if step else "before its first step"
        )
        where = f" {run.pane}" if run.pane is not None else ""
        again = f"; `visor workflow run {run.workflow}{where} --force` starts it again" if other else ""
        return f"{run.workflow} {why}, and the run stood {stood}: it goes on only with what it began with{again}"

    def _trouble_of(self, name: str) -> str:
        found = next((one.why for one in self.troubles if name == one.name), "")
        return f" ({found})" if found else ""

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
                if taken := files.get(found.name) or self._own.get(found.name):
                    raise ConfigError(f"{path}: there is a workflow {found.name!r} already ({taken.origin})")
                files[found.name] = found
            except ConfigError as error:
                log.error("a workflow is left out: %s", error.message)
                was = next((one.name for one in self._files.values() if one.origin == path), name.rpartition(".")[0])
                troubles.append(Trouble(file=path, why=error.message, name=was))
        self._files, self.troubles = files, (*self._left_out, *troubles)


def _load(path: str) -> Workflow:
    from termvisor.workflows.files.loader import load  # YAML is loaded by those who use it

    return load(path)


def _stamp(folder: str) -> _Stamp:
    try:
        found = [entry for entry in os.scandir(folder) if entry.name.endswith(SUFFIXES)]
    except OSError:
        return ()
    return tuple(sorted((entry.name, *_state(entry)) for entry in found))


def _state(entry: "os.DirEntry[str]") -> tuple[int, int]:
    """What changes with its content. A link that leads nowhere has nothing to show, and is told when it is read."""
    try:
        found = entry.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
