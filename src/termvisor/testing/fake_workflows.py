"""A fake workflow service for tests of operations."""

from collections.abc import Sequence

from msgspec.structs import replace

from termvisor.clock import NS, Clock
from termvisor.daemon.workflows.workflow_service import WorkflowService
from termvisor.errors import StateConflict, WorkflowNotFound
from termvisor.model.action.action import Actor
from termvisor.model.action.approval import VerdictReason, combine_reasons
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import PaneId
from termvisor.model.workflow import (
    ENDED_RUN_STATUSES,
    DryRunStep,
    Run,
    RunChangeRequest,
    RunId,
    RunStatus,
    RunStep,
    WorkflowFileProblem,
    WorkflowInfo,
)
from termvisor.store import Store
from termvisor.testing.memory_store import run_now

_SEND_STEP = '{"wish":{"text":"hello"}}'
_STATUS_AFTER_CHANGE: dict[str, RunStatus] = {"cancel": "cancelled", "pause": "paused", "resume": "running"}


class FakeWorkflows(WorkflowService):
    """Workflows in a list, runs and steps in the store. ``received_changes`` are the requested changes to runs."""

    def __init__(self, store: Store, clock: Clock):
        # Does not call the base __init__, which builds an engine that tests of operations do not need.
        self._runs, self._clock = store.workflow_runs, clock
        self.workflow_infos: list[WorkflowInfo] = []
        self.file_problems: list[WorkflowFileProblem] = []
        self.dry_run_steps: list[DryRunStep] = []
        self.received_changes: list[RunChangeRequest] = []

    def list_workflows(self) -> tuple[Sequence[WorkflowInfo], Sequence[WorkflowFileProblem]]:
        return self.workflow_infos, self.file_problems

    def find_answering_workflow(self, detection: Detection) -> str | None:
        names = [info.name for info in self.workflow_infos if detection.type in info.events and info.mode != "off"]
        return names[0] if names and detection.can_start_workflow else None

    async def start_run(self, workflow: str, pane: PaneId, actor: Actor, *, force: bool = False) -> Run:
        info = next((info for info in self.workflow_infos if info.name == workflow), None)
        if info is None:
            raise WorkflowNotFound(f"workflow {workflow!r} not found")
        if info.events and not force:
            raise StateConflict(f"pane {pane} has no recent event that triggers {workflow}")
        return self.add_run(workflow, pane, origin="person" if actor.kind == "human" else "robot")

    def add_run(self, workflow: str, pane: PaneId | None, **more: object) -> Run:
        """Simulate the start of a run."""
        run = Run(workflow=workflow, pane=pane, at=self._clock.now(), correlation="c1")
        added = run_now(self._runs.add(replace(run, **more)))
        assert added is not None  # noqa: S101
        return added

    def end_run(self, run: Run, *steps: RunStep) -> None:
        """Simulate the end of a run after these steps."""
        for step in steps:
            run_now(self._runs.save_step(run.id, step))
        run_now(self._runs.save(run))

    async def dry_run(self, workflow: str, pane: PaneId) -> tuple[Sequence[DryRunStep], str]:
        if all(info.name != workflow for info in self.workflow_infos):
            raise WorkflowNotFound(f"workflow {workflow!r} not found")
        return self.dry_run_steps, "it would end here"

    async def change_run(self, run_id: RunId, change: RunChangeRequest, actor: Actor) -> Run:
        run, _ = await self.get_run(run_id)
        if run.status in ENDED_RUN_STATUSES:
            raise StateConflict(f"run {run_id} is {run.status}")
        self.received_changes.append(change)
        changed = replace(run, status=_STATUS_AFTER_CHANGE.get(change.kind, run.status))
        await self._runs.save(changed)
        return changed


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
    steps = (
        RunStep(number=0, kind="wait_for", name="quiet", given='{"quiet":2.0}', came='{"what":"quiet"}', at=now),
        RunStep(number=1, kind="act", name="send", given=_SEND_STEP, status="retry", attempt=2, at=now),
    )
    for step in steps:
        run_now(workflows._runs.save_step(run.id, step))
    workflows.dry_run_steps += _build_dry_run_steps()


def _build_dry_run_steps() -> list[DryRunStep]:
    reason = VerdictReason(source="default", id="others.input", answer="ask", text="a workflow types")
    return [
        DryRunStep(number=0, kind="wait_for", name="quiet", given='{"quiet":2.0}', assumed="it comes"),
        DryRunStep(number=1, kind="act", name="send", given=_SEND_STEP, verdict=combine_reasons((reason,))),
    ]
