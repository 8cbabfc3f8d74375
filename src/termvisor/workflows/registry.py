"""The workflows that there are: built-in, of other packages, and files of steps, read anew when they change."""

import os
from collections.abc import Sequence

from msgspec import Struct

from termvisor.errors import ConfigError
from termvisor.log import get_logger
from termvisor.model.workflow.run import Run, RunStep
from termvisor.workflows.workflow import Workflow, load_installed_workflows

WORKFLOW_FILE_SUFFIXES = (".yaml", ".yml", ".toml")
log = get_logger("workflow")
_FolderStamp = tuple[tuple[str, int, int], ...]


class WorkflowLoadProblem(Struct, frozen=True, kw_only=True):
    """A file, or an entry point, that is not a workflow, and why; ``name`` is the one that it had, or would have by its
    file."""

    file: str
    why: str
    name: str = ""


class WorkflowRegistry:
    def __init__(self, folder: str, workflows: Sequence[Workflow] | None = None):
        self.folder = folder
        found, left_out = load_installed_workflows() if workflows is None else (workflows, {})
        self._installed = {one.name: one for one in found}
        self._entry_point_problems = tuple(
            WorkflowLoadProblem(file=f"entry point {name}", why=f"entry point {name}: {why}")
            for name, why in left_out.items()
        )
        self._file_workflows: dict[str, Workflow] = {}
        self._folder_stamp: _FolderStamp | None = None
        self.problems: tuple[WorkflowLoadProblem, ...] = self._entry_point_problems

    def list_workflows(self) -> list[Workflow]:
        """By priority and name."""
        self._reload_if_changed()
        found = {**self._installed, **self._file_workflows}
        return sorted(found.values(), key=lambda one: (one.priority, one.name))

    def find(self, name: str, version: int | None = None) -> Workflow | None:
        return next((one for one in self.list_workflows() if one.name == name and version in (None, one.version)), None)

    def describe_missing_workflow(self, run: Run, steps: Sequence[RunStep]) -> str:
        """Why a run cannot go on whose workflow is not here as it was when the run began, and where it stood."""
        other = self.find(run.workflow)
        why = (
            "was changed after this run began"
            if other
            else f"is no longer there{self._describe_problem_of(run.workflow)}"
        )
        step = steps[-1] if steps else None
        stood = (
            f"at step {step.number} ({step.kind} {step.name})".replace(" )", ")") if step else "before its first step"
        )
        where = f" {run.pane}" if run.pane is not None else ""
        again = f"; `visor workflow run {run.workflow}{where} --force` starts it again" if other else ""
        return f"{run.workflow} {why}, and the run stood {stood}: it goes on only with what it began with{again}"

    def _describe_problem_of(self, name: str) -> str:
        found = next((one.why for one in self.problems if name == one.name), "")
        return f" ({found})" if found else ""

    def _reload_if_changed(self) -> None:
        stamp = _read_folder_stamp(self.folder)
        if stamp != self._folder_stamp:
            self._folder_stamp = stamp
            self._load_files([name for name, _, _ in stamp])

    def _load_files(self, names: Sequence[str]) -> None:
        """One that is wrong is told and left out; the others stand."""
        files: dict[str, Workflow] = {}
        troubles: list[WorkflowLoadProblem] = []
        for name in names:
            path = os.path.join(self.folder, name)
            try:
                found = _load_file(path)
                if taken := files.get(found.name) or self._installed.get(found.name):
                    raise ConfigError(f"{path}: there is a workflow {found.name!r} already ({taken.origin})")
                files[found.name] = found
            except ConfigError as error:
                log.error("a workflow is left out: %s", error.message)
                was = next(
                    (one.name for one in self._file_workflows.values() if one.origin == path), name.rpartition(".")[0]
                )
                troubles.append(WorkflowLoadProblem(file=path, why=error.message, name=was))
        self._file_workflows, self.problems = files, (*self._entry_point_problems, *troubles)


def _load_file(path: str) -> Workflow:
    from termvisor.workflows.files.loader import load_workflow_file  # YAML is loaded by those who use it

    return load_workflow_file(path)


def _read_folder_stamp(folder: str) -> _FolderStamp:
    try:
        found = [entry for entry in os.scandir(folder) if entry.name.endswith(WORKFLOW_FILE_SUFFIXES)]
    except OSError:
        return ()
    return tuple(sorted((entry.name, *_read_file_stamp(entry)) for entry in found))


def _read_file_stamp(entry: "os.DirEntry[str]") -> tuple[int, int]:
    """What changes with its content. A link that leads nowhere has nothing to show, and is told when it is read."""
    try:
        found = entry.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
