"""Arguments, result and text of the operations that change a workflow run."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.model.workflow.info import RunChangeRequest
from termvisor.model.workflow.run import RunId
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.render.text import RenderOptions
from termvisor.ops.workflows._run_item import RunItem, RunNumber, build_run_item, format_headline


class RunWithReasonArgs(Struct, frozen=True, kw_only=True):
    """The workflow run, and the reason."""

    run: RunNumber
    why: Annotated[str, Meta(description="The reason, shown in the run's history.", max_length=500)] = ""


class RunChangeResult(Struct, frozen=True, kw_only=True):
    """The run right after the request; the effect may take a moment."""

    run: RunItem


async def change_run(services: ActingServices, number: int, change: RunChangeRequest) -> RunChangeResult:
    run = await services.workflows.change_run(RunId(number), change, services.gate.actor)
    return RunChangeResult(run=build_run_item(run, services.clock.now()))


def render_text(result: RunChangeResult, options: RenderOptions) -> str:
    return str(result.run.id) if options.is_quiet else format_headline(result.run)


RUN_CHANGE_EXITS = ((4, "Workflow run not found."), (75, "The run has already ended."))
