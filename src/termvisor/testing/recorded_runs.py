"""Replay recorded workflow runs, to find workflows whose steps no longer match their journal."""

import msgspec
from msgspec import Struct

from termvisor.errors import Diverged
from termvisor.model.workflow import Run, RunStep
from termvisor.testing.fake_clock import FakeClock
from termvisor.workflows.calls import WorkflowCall
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.engine.journal_replay import split_journal
from termvisor.workflows.engine.journaled_calls import JournaledExecutor, LastAction, StepExecution
from termvisor.workflows.files.loader import WorkflowFileParser
from termvisor.workflows.files.source_file import parse_source
from termvisor.workflows.results import CallResult
from termvisor.workflows.workflow import Workflow, load_installed_workflows


class RecordedRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run and its journal. ``source`` is the text of a workflow file; empty for a built-in workflow."""

    run: Run
    steps: list[RunStep]
    source: str = ""

    def find_workflow(self) -> Workflow:
        if self.source:
            return WorkflowFileParser(parse_source("workflow.yaml", self.source)).parse_workflow()
        return next(workflow for workflow in load_installed_workflows()[0] if workflow.name == self.run.workflow)


class ReplayOnlySteps:
    """Step runner and journal for a replay. Executing a step is an error, and nothing is stored."""

    async def prepare_step(self, run: Run, call: WorkflowCall, last: LastAction) -> str:
        return ""

    async def run_step(self, call: WorkflowCall, execution: StepExecution) -> CallResult:
        raise Diverged(f"the run has more steps than its recording: {execution.step.kind} {execution.step.name}")

    async def save_step(self, run: int, step: RunStep) -> None:
        return None


async def replay_run(history: RecordedRun) -> None:
    """Replay a recorded run. Raises Diverged if the workflow's steps differ from the recorded ones."""
    workflow, replay_only = history.find_workflow(), ReplayOnlySteps()
    # The engine, too, refuses to continue a run with another version of its workflow.
    if workflow.version != history.run.version:
        raise Diverged(f"{workflow.name} is version {workflow.version}, the recording is of {history.run.version}")
    run_steps, end, cleanup_steps = split_journal(history.steps)
    for function, steps in ((workflow.run, run_steps), (workflow.cleanup, cleanup_steps)):
        if function is None:
            continue
        executor = JournaledExecutor(history.run, steps, replay_only.save_step, replay_only, FakeClock())
        try:
            await function(Context(history.run, None, executor))
        # The workflow decided to do nothing, which is a normal end.
        except StepBack:
            pass
        except Exception:  # a recorded failure is part of the run; any other failure is an error
            if executor.closed_by is not None or end is None or end.status == "completed":
                raise
        # A workflow that takes fewer steps than recorded has diverged too.
        executor.check_finished()


def decode_recorded_run(data: bytes) -> RecordedRun:
    return msgspec.json.decode(data, type=RecordedRun)


def encode_recorded_run(history: RecordedRun) -> bytes:
    return msgspec.json.format(msgspec.json.encode(history), indent=1) + b"\n"
