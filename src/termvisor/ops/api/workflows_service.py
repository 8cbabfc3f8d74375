"""Interfaces of the workflow services that operations use."""

from collections.abc import Sequence
from typing import Protocol

from termvisor.model.action.action import Actor
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import PaneId
from termvisor.model.workflow.info import DryRunStep, RunChangeRequest, WorkflowFileProblem, WorkflowInfo
from termvisor.model.workflow.run import Run, RunFilter, RunId, RunStep


class WorkflowCatalogService(Protocol):
    def list_workflows(self) -> tuple[Sequence[WorkflowInfo], Sequence[WorkflowFileProblem]]:
        """Return the workflows by priority, and the workflow files that could not be loaded."""

    def find_answering_workflow(self, detection: Detection) -> str | None:
        """Return the workflow that this detection would trigger now (by trigger, mode and priority), or None."""


class WorkflowService(WorkflowCatalogService, Protocol):
    async def list_runs(self, filters: RunFilter, limit: int = 20) -> list[Run]:
        """Return the newest runs, oldest first."""

    async def get_run(self, run_id: RunId) -> tuple[Run, Sequence[RunStep]]:
        """Return a run and its steps. Raises WorkflowNotFound."""

    async def start_run(self, workflow: str, pane: PaneId, actor: Actor, *, force: bool = False) -> Run:
        """Start a run. Raises WorkflowNotFound; without ``force`` Conflict if the pane does not match the trigger."""

    async def dry_run(self, workflow: str, pane: PaneId) -> tuple[Sequence[DryRunStep], str]:
        """Return the steps that a run would execute and its result, without executing anything."""

    async def change_run(self, run_id: RunId, change: RunChangeRequest, actor: Actor) -> Run:
        """Pause, resume, cancel or signal a run. Raises WorkflowNotFound; Conflict if it has ended."""
