"""Recorded histories: what a run once asked for and got. A workflow that no longer asks for the same is found here."""

import msgspec
from msgspec import Struct

from termvisor.errors import Diverged
from termvisor.model.workflow.run import Run, RunStep
from termvisor.testing.fake_services import FakeClock
from termvisor.workflows.calls import CallResult, WorkflowCall
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.engine.journal_replay import split_journal
from termvisor.workflows.engine.journaled_calls import JournaledExecutor, LastAction, StepExecution
from termvisor.workflows.files.loader import WorkflowFileParser
from termvisor.workflows.files.source_file import parse_source
from termvisor.workflows.workflow import Workflow, load_installed_workflows


class RecordedRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """``source`` is the file of a workflow that is one; built-in ones are found by the run's workflow."""

    run: Run
    steps: list[RunStep]
    source: str = ""

    def find_workflow(self) -> Workflow:
        if self.source:
            return WorkflowFileParser(parse_source("workflow.yaml", self.source)).parse_workflow()
        return next(one for one in load_installed_workflows()[0] if one.name == self.run.workflow)


class ReplayOnlySteps:
    """Nothing is taken in a replay, and nothing is written."""

    async def prepare_step(self, run: Run, call: WorkflowCall, last: LastAction) -> str:
        return ""

    async def run_step(self, call: WorkflowCall, execution: StepExecution) -> CallResult:
        raise Diverged(f"the run asks for more than its history holds: {execution.step.kind} {execution.step.name}")

    async def save_step(self, run: int, step: RunStep) -> None:
        return None


async def replay_run(history: RecordedRun) -> None:
    """Raises ``Diverged`` where the workflow asks for something else than it did."""
    workflow, nobody = history.find_workflow(), ReplayOnlySteps()
    if workflow.version != history.run.version:
        raise Diverged(f"{workflow.name} is version {workflow.version}, the history is of {history.run.version}")
    work, end, cleaning = split_journal(history.steps)
    for function, steps in ((workflow.run, work), (workflow.cleanup, cleaning)):
        if function is None:
            continue
        effects = JournaledExecutor(history.run, steps, nobody, nobody, FakeClock())
        try:
            await function(Context(history.run, None, effects))
        except StepBack:
            pass
        except Exception:
            if effects.closed_by is not None or end is None or end.status == "completed":
                raise
        effects.check_finished()


def decode_recorded_run(data: bytes) -> RecordedRun:
    return msgspec.json.decode(data, type=RecordedRun)


def encode_recorded_run(history: RecordedRun) -> bytes:
    return msgspec.json.format(msgspec.json.encode(history), indent=1) + b"\n"
