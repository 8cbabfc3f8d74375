"""A fake workflow service for tests of operations."""

from collections.abc import Sequence

from msgspec.structs import replace

from termvisor.clock import NS, Clock
from termvisor.errors import Conflict, WorkflowNotFound
from termvisor.model.action.action import Actor
from termvisor.model.action.verdict import VerdictReason, combine_reasons
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import PaneId
from termvisor.model.workflow.info import DryRunStep, RunChangeRequest, WorkflowFileProblem, WorkflowInfo
from termvisor.model.workflow.run import ENDED_RUN_STATUSES, Run, RunFilter, RunId, RunStatus, RunStep

_SEND_STEP = '{"wish":{"text":"hello"}}'
_STATUS_AFTER_CHANGE: dict[str, RunStatus] = {"cancel": "cancelled", "pause": "paused", "resume": "running"}


class FakeWorkflows:
    """Workflows, runs and steps in lists; ``received_changes`` are the requested changes of runs."""

    def __init__(self, clock: Clock):
        self._clock = clock
        self.workflow_infos: list[WorkflowInfo] = []
        self.file_problems: list[WorkflowFileProblem] = []
        self.stored_runs: list[Run] = []
        self.steps_by_run: dict[RunId, list[RunStep]] = {}
        self.dry_run_steps: list[DryRunStep] = []
        self.received_changes: list[RunChangeRequest] = []

    def list_workflows(self) -> tuple[Sequence[WorkflowInfo], Sequence[WorkflowFileProblem]]:
        return self.workflow_infos, self.file_problems

    def find_answering_workflow(self, detection: Detection) -> str | None:
        names = [info.name for info in self.workflow_infos if detection.type in info.events and info.mode != "off"]
        return names[0] if names and detection.can_start_workflow else None

    async def list_runs(self, filters: RunFilter, limit: int = 20) -> "list[Run]":
        runs = [
            run
            for run in self.stored_runs
            if filters.workflow in (None, run.workflow) and filters.pane in (None, run.pane)
        ]
        return [run for run in runs if not filters.statuses or run.status in filters.statuses][-limit:]

    async def get_run(self, run_id: RunId) -> tuple[Run, Sequence[RunStep]]:
        return self._get_stored_run(run_id), self.steps_by_run.get(run_id, [])

    async def start_run(self, workflow: str, pane: PaneId, actor: Actor, *, force: bool = False) -> Run:
        info = next((info for info in self.workflow_infos if info.name == workflow), None)
        if info is None:
            raise WorkflowNotFound(f"workflow {workflow!r} not found")
        if info.events and not force:
            raise Conflict(f"pane {pane} has no recent event that triggers {workflow}")
        return self.add_run(workflow, pane, origin="person" if actor.kind == "human" else "robot")

    def add_run(self, workflow: str, pane: PaneId | None, **more: object) -> Run:
        """Simulate the start of a run."""
        run = Run(
            id=RunId(len(self.stored_runs) + 1), workflow=workflow, pane=pane, at=self._clock.now(), correlation="c1"
        )
        self.stored_runs.append(replace(run, **more))
        return self.stored_runs[-1]

    async def dry_run(self, workflow: str, pane: PaneId) -> tuple[Sequence[DryRunStep], str]:
        if all(info.name != workflow for info in self.workflow_infos):
            raise WorkflowNotFound(f"workflow {workflow!r} not found")
        return self.dry_run_steps, "it would end here"

    async def change_run(self, run_id: RunId, change: RunChangeRequest, actor: Actor) -> Run:
        run = self._get_stored_run(run_id)
        if run.status in ENDED_RUN_STATUSES:
            raise Conflict(f"run {run_id} is {run.status}")
        self.received_changes.append(change)
        changed = replace(run, status=_STATUS_AFTER_CHANGE.get(change.kind, run.status))
        self.stored_runs[self.stored_runs.index(run)] = changed
        return changed

    def _get_stored_run(self, run_id: RunId) -> Run:
        stored = next((run for run in self.stored_runs if run.id == run_id), None)
        if stored is None:
            raise WorkflowNotFound(f"run {run_id} not found")
        return stored


def add_sample_workflows(workflows: FakeWorkflows, pane: PaneId, now: int) -> None:
    """Add a built-in workflow, one from a file, an invalid file, failed runs and a paused run."""
    workflows.workflow_infos += [
        WorkflowInfo(
            name="handle_compaction",
            version=1,
            summary="After a compaction, have the agent read its notes again.",
            origin="built-in",
            mode="ask",
            events=("session.compaction",),
            fresh_for=600.0,
            timeout=3600.0,
        ),
        WorkflowInfo(
            name="nightly",
            version=77,
            summary="Run the tests at night.",
            origin="/home/me/.config/termvisor/workflows/nightly.yaml",
            mode="on",
            steps=('send {"text":"make test"}',),
            timeout=3600.0,
        ),
    ]
    file = "/home/me/.config/termvisor/workflows/broken.yaml"
    why = f"{file}:3: there is no step 'sned'; did you mean send?"
    workflows.file_problems.append(WorkflowFileProblem(file=file, why=why, name="broken"))
    workflows.add_run("nightly", pane, status="failed", why="KeyError: 'x'", ended_at=now)
    workflows.add_run(
        "nightly", pane, status="failed", why="what the run waited for did not come within 30 s", ended_at=now
    )
    plan = "resume at noon: codex resume 1; `visor workflow resume 3` goes on now"
    due_at = now + 3600 * NS
    run = workflows.add_run("handle_compaction", pane, status="paused", why="as planned", plan=plan, due_at=due_at)
    workflows.steps_by_run[run.id] = [
        RunStep(number=0, kind="wait_for", name="quiet", given='{"quiet":2.0}', came='{"what":"quiet"}', at=now),
        RunStep(number=1, kind="act", name="send", given=_SEND_STEP, status="retry", attempt=2, at=now),
    ]
    workflows.dry_run_steps += _build_dry_run_steps()


def _build_dry_run_steps() -> list[DryRunStep]:
    reason = VerdictReason(source="default", id="others.input", answer="ask", text="a workflow types")
    return [
        DryRunStep(number=0, kind="wait_for", name="quiet", given='{"quiet":2.0}', assumed="it comes"),
        DryRunStep(number=1, kind="act", name="send", given=_SEND_STEP, verdict=combine_reasons((reason,))),
    ]
