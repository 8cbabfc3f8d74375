"""The op `workflow_history`: one run, step by step."""

from msgspec import Struct

from termvisor.model.workflow.run import RunId
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, render_table
from termvisor.ops.workflows._run_item import (
    STEP_COLUMNS,
    RunItem,
    RunNumber,
    StepItem,
    build_run_item,
    build_step_item,
    format_headline,
)


class WorkflowHistoryArgs(Struct, frozen=True, kw_only=True):
    """Which run."""

    run: RunNumber


class WorkflowHistoryResult(Struct, frozen=True, kw_only=True):
    """What is on record of a run; every step was stored before it was taken, and again with what came of it."""

    run: RunItem
    steps: tuple[StepItem, ...]


async def run(services: Services, args: WorkflowHistoryArgs) -> WorkflowHistoryResult:
    found, steps = await services.workflows.get_run(RunId(args.run))
    return WorkflowHistoryResult(
        run=build_run_item(found, services.clock.now()), steps=tuple(map(build_step_item, steps))
    )


def render_text(result: WorkflowHistoryResult, options: RenderOptions) -> str:
    rows = render_table(STEP_COLUMNS, result.steps, options) if result.steps else "No step was taken."
    plan = [result.run.plan] if result.run.plan else []
    return rows if options.is_quiet else "\n".join([format_headline(result.run), *plan, "", rows])


OP = Operation(
    name="workflow_history",
    summary="One run, step by step: what it wanted, what came of it.",
    doc="""Inputs and outputs are redacted. The step `end` says how its work ended; what follows it is its cleanup. The
whole story of an act is in `visor audit --correlation`, under the `correlation` that its step names.""",
    args_type=WorkflowHistoryArgs,
    result_type=WorkflowHistoryResult,
    run=run,
    render_text=render_text,
    exit_statuses=((4, "There is no such run."),),
    examples=(
        OperationExample("workflow history 3", "for people"),
        OperationExample("robot workflow history 3", "as JSON"),
    ),
)
