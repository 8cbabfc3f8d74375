"""Workflows and their runs, as operations see them."""

from collections.abc import Sequence
from typing import Protocol

from termvisor.model.action.action import Actor
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import PaneId
from termvisor.model.workflow.info import DryRunStep, RunChangeRequest, WorkflowFileProblem, WorkflowInfo
from termvisor.model.workflow.run import Run, RunFilter, RunId, RunStep


class WorkflowCatalogService(Protocol):
    def list_workflows(self) -> tuple[Sequence[WorkflowInfo], Sequence[WorkflowFileProblem]]:
        """Those that there are, by priority; and the files that are none."""

    def find_answering_workflow(self, detection: Detection) -> str | None:
        """The workflow that would answer it now, by its trigger, its mode and its priority; None where none would."""


class WorkflowService(WorkflowCatalogService, Protocol):
    async def list_runs(self, filters: RunFilter, limit: int = 20) -> list[Run]:
        """The newest ones, oldest first."""

    async def get_run(self, run_id: RunId) -> tuple[Run, Sequence[RunStep]]:
        """With its steps. Raises ``NoWorkflow``."""

    async def start_run(self, workflow: str, pane: PaneId, actor: Actor, *, force: bool = False) -> Run:
        """Raises ``NoWorkflow``; without ``force`` ``Conflict`` where nothing in the pane is what it answers."""

    async def dry_run(self, workflow: str, pane: PaneId) -> tuple[Sequence[DryRunStep], str]:
        """What it would do, step by step, and how it would end; nothing is done."""

    async def change_run(self, run_id: RunId, change: RunChangeRequest, actor: Actor) -> Run:
        """Raises ``NoWorkflow`` for no such run, ``Conflict`` for one that has ended."""
