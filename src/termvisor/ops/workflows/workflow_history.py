"""The operation `workflow_history`: show the journal of a workflow run."""

from msgspec import Struct

from termvisor.model.workflow import RunId
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.table import render_table
from termvisor.ops.render.text import RenderOptions
from termvisor.ops.workflows import _workflow_runs


class WorkflowHistoryArgs(Struct, frozen=True, kw_only=True):
    """Choose the run."""

    run: _workflow_runs.RunNumber


class WorkflowHistoryResult(Struct, frozen=True, kw_only=True):
    """The journal of a run; each step is stored before it is executed, and again with its result."""

    run: _workflow_runs.RunItem
    steps: tuple[_workflow_runs.StepItem, ...]


async def run(services: Services, args: WorkflowHistoryArgs) -> WorkflowHistoryResult:
    stored_run, steps = await services.workflows.get_run(RunId(args.run))
    return WorkflowHistoryResult(
        run=_workflow_runs.build_run_item(stored_run, services.clock.now()),
        steps=tuple(map(_workflow_runs.build_step_item, steps)),
    )


def render_text(result: WorkflowHistoryResult, options: RenderOptions) -> str:
    rows = render_table(_workflow_runs.STEP_COLUMNS, result.steps, options) if result.steps else "No steps."
    plan = [result.run.plan] if result.run.plan else []
    return (
        rows if options.is_quiet else "\n".join([_workflow_runs.format_headline(result.run, options), *plan, "", rows])
    )


OP = Operation(
    name="workflow_history",
    summary="Show a workflow run step by step: inputs and results.",
    doc="""Inputs and outputs are redacted. The step `end` is the end of the workflow's work; the steps after it are its
cleanup. `visor audit --correlation` shows all entries of an action, by the `correlation` of its step.""",
    run=run,
    render_text=render_text,
    exit_statuses=((4, "Workflow run not found."),),
    examples=(
        OperationExample("workflow history 3", "as a table"),
        OperationExample("robot workflow history 3", "as JSON"),
    ),
)
