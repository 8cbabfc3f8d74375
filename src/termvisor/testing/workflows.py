"""Workflows and their runs in memory, for tests of operations."""

from collections.abc import Sequence

from msgspec.structs import replace

from termvisor.clock import NS, Clock
from termvisor.errors import Conflict, NoWorkflow
from termvisor.model.action.action import Actor
from termvisor.model.action.verdict import Reason, strictest
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import PaneId
from termvisor.model.workflow.info import Rehearsed, RunChange, WorkflowInfo, WorkflowTrouble
from termvisor.model.workflow.run import ENDED, Run, RunFilter, RunId, RunStatus, Step

_AFTER: dict[str, RunStatus] = {"cancel": "cancelled", "pause": "paused", "resume": "running"}


class MemoryWorkflows:
    """``known`` are the workflows, ``kept`` their runs, ``done`` their steps; ``said`` is what was wanted of them."""

    def __init__(self, clock: Clock):
        self._clock = clock
        self.known: list[WorkflowInfo] = []
        self.troubles: list[WorkflowTrouble] = []
        self.kept: list[Run] = []
        self.done: dict[RunId, list[Step]] = {}
        self.rehearsed: list[Rehearsed] = []
        self.said: list[RunChange] = []

    def workflows(self) -> tuple[Sequence[WorkflowInfo], Sequence[WorkflowTrouble]]:
        return self.known, self.troubles

    def answering(self, found: Detection) -> str | None:
        fits = [one.name for one in self.known if found.type in one.events and one.mode != "off"]
        return fits[0] if fits and found.may_start else None

    async def list(self, only: RunFilter, limit: int = 20) -> "list[Run]":
        fits = [run for run in self.kept if only.workflow in (None, run.workflow) and only.pane in (None, run.pane)]
        return [run for run in fits if not only.statuses or run.status in only.statuses][-limit:]

    async def one(self, number: RunId) -> tuple[Run, Sequence[Step]]:
        return self._run(number), self.done.get(number, [])

    async def begin(self, workflow: str, pane: PaneId, actor: Actor, *, force: bool = False) -> Run:
        info = next((one for one in self.known if one.name == workflow), None)
        if info is None:
            raise NoWorkflow(f"there is no workflow {workflow!r}")
        if info.events and not force:
            raise Conflict(f"nothing that {workflow} answers was seen in pane {pane} lately")
        return self.start(workflow, pane, origin="person" if actor.kind == "human" else "robot")

    def start(self, workflow: str, pane: PaneId | None, **more: object) -> Run:
        """A run begins."""
        run = Run(id=RunId(len(self.kept) + 1), workflow=workflow, pane=pane, at=self._clock.now(), correlation="c1")
        self.kept.append(replace(run, **more))
        return self.kept[-1]

    async def rehearse(self, workflow: str, pane: PaneId) -> tuple[Sequence[Rehearsed], str]:
        if all(one.name != workflow for one in self.known):
            raise NoWorkflow(f"there is no workflow {workflow!r}")
        return self.rehearsed, "it would end here"

    async def change(self, number: RunId, change: RunChange, actor: Actor) -> Run:
        run = self._run(number)
        if run.status in ENDED:
            raise Conflict(f"run {number} is {run.status}")
        self.said.append(change)
        changed = replace(run, status=_AFTER.get(change.kind, run.status))
        self.kept[self.kept.index(run)] = changed
        return changed

    def _run(self, number: RunId) -> Run:
        found = next((run for run in self.kept if run.id == number), None)
        if found is None:
            raise NoWorkflow(f"there is no run {number}")
        return found


def under_way(runs: MemoryWorkflows, pane: PaneId, now: int) -> None:
    """A workflow of a file, one that is built in, a run that waits for its time, and one that failed."""
    runs.known += [
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
    runs.troubles.append(WorkflowTrouble(file=file, why=why, name="broken"))
    runs.start("nightly", pane, status="failed", why="KeyError: 'x'", ended_at=now)
    runs.start("nightly", pane, status="failed", why="what the run waited for did not come within 30 s", ended_at=now)
    plan = "resume at noon: codex resume 1; `visor workflow resume 3` goes on now"
    run = runs.start("handle_compaction", pane, status="paused", why="as planned", plan=plan, due_at=now + 3600 * NS)
    runs.done[run.id] = [
        Step(number=0, kind="wait_for", name="quiet", given='{"quiet":2.0}', came='{"what":"quiet"}', at=now),
        Step(number=1, kind="act", name="send", given='{"wish":{"text":"hello"}}', status="retry", attempt=2, at=now),
    ]
    verdict = strictest((Reason(source="default", id="others.input", answer="ask", text="a workflow types"),))
    given = '{"wish":{"text":"hello"}}'
    runs.rehearsed += [
        Rehearsed(number=0, kind="wait_for", name="quiet", given='{"quiet":2.0}', assumed="it comes"),
        Rehearsed(number=1, kind="act", name="send", given=given, verdict=verdict),
    ]
