"""Find workflows by name or event: built-in ones, those of other packages, and files (reloaded on change)."""

import os
from collections.abc import Callable, Iterable, Sequence

from termvisor.clock import NS
from termvisor.errors import ConfigError
from termvisor.log import get_logger
from termvisor.model.detection.detection import Detection, build_event_correlation
from termvisor.model.event import Scalar
from termvisor.model.workflow import Run, RunStep, WorkflowFileProblem, WorkflowMode
from termvisor.workflows.workflow import Workflow, load_installed_workflows

WORKFLOW_FILE_SUFFIXES = (".yaml", ".yml", ".toml")
log = get_logger("workflow")
_FolderStamp = tuple[tuple[str, int, int], ...]


class WorkflowRegistry:
    def __init__(self, folder: str, workflows: Sequence[Workflow] | None = None):
        self.folder = folder
        installed, problems = load_installed_workflows() if workflows is None else (workflows, {})
        self._installed = {workflow.name: workflow for workflow in installed}
        self._entry_point_problems = tuple(
            WorkflowFileProblem(file=f"entry point {name}", why=f"entry point {name}: {why}")
            for name, why in problems.items()
        )
        self._file_workflows: dict[str, Workflow] = {}
        self._folder_stamp: _FolderStamp | None = None
        self.problems: tuple[WorkflowFileProblem, ...] = self._entry_point_problems

    def list_workflows(self) -> list[Workflow]:
        """Return all workflows, sorted by priority and name."""
        self._reload_if_changed()
        workflows = {**self._installed, **self._file_workflows}
        return sorted(workflows.values(), key=lambda workflow: (workflow.priority, workflow.name))

    def find(self, name: str, version: int | None = None) -> Workflow | None:
        named = (workflow for workflow in self.list_workflows() if workflow.name == name)
        return next((workflow for workflow in named if version in (None, workflow.version)), None)

    def describe_missing_workflow(self, run: Run, steps: Sequence[RunStep]) -> str:
        """Explain why a run whose workflow is missing or changed cannot continue, and at which step it stopped."""
        other = self.find(run.workflow)
        problem = next((f" ({problem.why})" for problem in self.problems if problem.name == run.workflow), "")
        why = "was changed after this run started" if other else f"no longer exists{problem}"
        step = steps[-1] if steps else None
        position = f"at step {step.number} ({f'{step.kind} {step.name}'.rstrip()})" if step else "before its first step"
        pane = f" {run.pane}" if run.pane is not None else ""
        again = f"; `visor workflow run {run.workflow}{pane} --force` starts it again" if other else ""
        return f"{run.workflow} {why}; the run stopped {position}{again}"

    def _reload_if_changed(self) -> None:
        stamp = _read_folder_stamp(self.folder)
        if stamp != self._folder_stamp:
            self._folder_stamp = stamp
            self._load_files([name for name, _, _ in stamp])

    def _load_files(self, names: Sequence[str]) -> None:
        """Load all files. An invalid file is logged and skipped."""
        # Re-read all files, because a removed file may have been the reason why another was rejected.
        files: dict[str, Workflow] = {}
        problems: list[WorkflowFileProblem] = []
        previous_names = {workflow.origin: workflow.name for workflow in self._file_workflows.values()}
        for name in names:
            path = os.path.join(self.folder, name)
            try:
                workflow = _load_file(path)
                if other := files.get(workflow.name) or self._installed.get(workflow.name):
                    raise ConfigError(f"{path}: the workflow {workflow.name!r} already exists ({other.origin})")
                files[workflow.name] = workflow
            except ConfigError as error:
                log.error("a workflow was not loaded: %s", error.message)
                # Keep the workflow name of a file that was valid before, so that its open runs can report the reason.
                known_name = previous_names.get(path, name.rpartition(".")[0])
                problems.append(WorkflowFileProblem(file=path, why=error.message, name=known_name))
        self._file_workflows, self.problems = files, (*self._entry_point_problems, *problems)


def _load_file(path: str) -> Workflow:
    from termvisor.workflows.files.loader import load_workflow_file  # load PyYAML only if there are files

    return load_workflow_file(path)


def _read_folder_stamp(folder: str) -> _FolderStamp:
    try:
        entries = [entry for entry in os.scandir(folder) if entry.name.endswith(WORKFLOW_FILE_SUFFIXES)]
    except OSError:
        return ()  # a missing folder has no workflows
    return tuple(sorted((entry.name, *_read_file_stamp(entry)) for entry in entries))


def _read_file_stamp(entry: "os.DirEntry[str]") -> tuple[int, int]:
    """Return modification time and size; zeros for a broken link, which is reported when loading."""
    try:
        status = entry.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def match_workflows(
    detection: Detection, workflows: Iterable[Workflow], get_mode: Callable[[str], WorkflowMode], now: int
) -> list[Workflow]:
    """Return the workflows that match an event, the one to run first; empty if it is too old or not trusted."""
    # Any program can print an unproven user variable, so it must not make the daemon act.
    if not detection.can_start_workflow:
        return []
    age = (now - detection.at) / NS
    matching = [
        workflow
        for workflow in workflows
        if workflow.trigger.matches(detection)
        and age <= workflow.trigger.fresh_for
        and get_mode(workflow.name) != "off"
    ]
    return sorted(matching, key=lambda workflow: (workflow.priority, workflow.name))


def build_run(
    detection: Detection, workflow: Workflow, mode: WorkflowMode, now: int, others: Sequence[Workflow] = ()
) -> Run:
    """Build the run for an event, which ``others`` match too. The store assigns its id."""
    extra: dict[str, Scalar] = {"also_fits": ", ".join(other.name for other in others)} if others else {}
    extra |= {name: detection.evidence[name] for name in ("resets_at",) if name in detection.evidence}
    return Run(
        workflow=workflow.name,
        version=workflow.version,
        origin="event",
        event=detection.event,
        pane=detection.pane,
        runtime=detection.runtime,
        agent=detection.agent,
        status="waiting",
        why="waiting for its turn",
        at=now,
        correlation=build_event_correlation(detection.event),
        mode=mode,
        facts={**detection.captures, **extra},
    )
