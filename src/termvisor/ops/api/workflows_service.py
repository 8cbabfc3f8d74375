"""Workflows and their runs, as operations see them."""

from collections.abc import Sequence
from typing import Protocol

from termvisor.model.action.action import Actor
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import PaneId
from termvisor.model.workflow.info import Rehearsed, RunChange, WorkflowInfo, WorkflowTrouble
from termvisor.model.workflow.run import Run, RunFilter, RunId, Step


class Workflows(Protocol):
    def workflows(self) -> tuple[Sequence[WorkflowInfo], Sequence[WorkflowTrouble]]:
        """Those that there are, by priority; and the files that are none."""

    def answering(self, found: Detection) -> str | None:
        """The workflow that would answer it now, by its trigger, its mode and its priority; None where none would."""


class Runs(Workflows, Protocol):
    async def list(self, only: RunFilter, limit: int = 20) -> list[Run]:
        """The newest ones, oldest first."""

    async def one(self, number: RunId) -> tuple[Run, Sequence[Step]]:
        """With its steps. Raises ``NoWorkflow``."""

    async def begin(self, workflow: str, pane: PaneId, actor: Actor, *, force: bool = False) -> Run:
        """Raises ``NoWorkflow``; without ``force`` ``Conflict`` where nothing in the pane is what it answers."""

    async def rehearse(self, workflow: str, pane: PaneId) -> tuple[Sequence[Rehearsed], str]:
        """What it would do, step by step, and how it would end; nothing is done."""

    async def change(self, number: RunId, change: RunChange, actor: Actor) -> Run:
        """Raises ``NoWorkflow`` for no such run, ``Conflict`` for one that has ended."""
