"""Workflows and their runs in memory, for tests of operations."""

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

_STATUS_AFTER_CHANGE: dict[str, RunStatus] = {"cancel": "cancelled", "pause": "paused", "resume": "running"}


class FakeWorkflows:
    """``known`` are the workflows, ``kept`` their runs, ``done`` their steps; ``said`` is what was wanted of them."""

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
        fits = [one.name for one in self.workflow_infos if detection.type in one.events and one.mode != "off"]
        return fits[0] if fits and detection.can_start_workflow else None

    async def list_runs(self, filters: RunFilter, limit: int = 20) -> "list[Run]":
        fits = [
            run
            for run in self.stored_runs
            if filters.workflow in (None, run.workflow) and filters.pane in (None, run.pane)
        ]
        return [run for run in fits if not filters.statuses or run.status in filters.statuses][-limit:]

    async def get_run(self, run_id: RunId) -> tuple[Run, Sequence[RunStep]]:
        return self._get_stored_run(run_id), self.steps_by_run.get(run_id, [])

    async def start_run(self, workflow: str, pane: PaneId, actor: Actor, *, force: bool = False) -> Run:
        info = next((one for one in self.workflow_infos if one.name == workflow), None)
        if info is None:
            raise WorkflowNotFound(f"there is no workflow {workflow!r}")
        if info.events and not force:
            raise Conflict(f"nothing that {workflow} answers was seen in pane {pane} lately")
        return self.add_run(workflow, pane, origin="person" if actor.kind == "human" else "robot")

    def add_run(self, workflow: str, pane: PaneId | None, **more: object) -> Run:
        """A run begins."""
        run = Run(
            id=RunId(len(self.stored_runs) + 1), workflow=workflow, pane=pane, at=self._clock.now(), correlation="c1"
        )
        self.stored_runs.append(replace(run, **more))
        return self.stored_runs[-1]

    async def dry_run(self, workflow: str, pane: PaneId) -> tuple[Sequence[DryRunStep], str]:
        if all(one.name != workflow for one in self.workflow_infos):
            raise WorkflowNotFound(f"there is no workflow {workflow!r}")
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
        found = next((run for run in self.stored_runs if run.id == run_id), None)
        if found is None:
            raise WorkflowNotFound(f"there is no run {run_id}")
        return found


def add_sample_workflows(workflows: FakeWorkflows, pane: PaneId, now: int) -> None:
    """A workflow of a file, one that is built in, a run that waits for its time, and one that failed."""
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
    run = workflows.add_run(
        "handle_compaction", pane, status="paused", why="as planned", plan=plan, due_at=now + 3600 * NS
    )
    workflows.steps_by_run[run.id] = [
        RunStep(number=0, kind="wait_for", name="quiet", given='{"quiet":2.0}', came='{"what":"quiet"}', at=now),
        RunStep(
            number=1, kind="act", name="send", given='{"wish":{"text":"hello"}}', status="retry", attempt=2, at=now
        ),
    ]
    verdict = combine_reasons(
        (VerdictReason(source="default", id="others.input", answer="ask", text="a workflow types"),)
    )
    given = '{"wish":{"text":"hello"}}'
    workflows.dry_run_steps += [
        DryRunStep(number=0, kind="wait_for", name="quiet", given='{"quiet":2.0}', assumed="it comes"),
        DryRunStep(number=1, kind="act", name="send", given=given, verdict=verdict),
    ]
