"""The op `workflow_run`: start a workflow in a pane."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import Refused
from termvisor.model.action.action import RunWorkflow
from termvisor.model.action.preconditions import Terms
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.input._preconditions import PaneReference
from termvisor.ops.panes._listing import named
from termvisor.ops.render.text import Look
from termvisor.ops.workflows._dry_run_item import Rehearsal, rehearsal, rows
from termvisor.ops.workflows._run_item import RunItem, headline, run_item
from termvisor.ops.workflows.workflow_show import WorkflowName
from termvisor.ops.workflows.workflow_show import named as workflow


class StartRun(Struct, frozen=True, kw_only=True):
    """Which workflow, where."""

    name: WorkflowName
    pane: PaneReference
    force: Annotated[
        bool, Meta(description="Also where nothing that it answers was seen; policy, lock and guards hold as ever.")
    ] = False
    dry_run: Annotated[bool, Meta(description="Show each step and its verdict; nothing is done.")] = False


class StartedRun(Struct, frozen=True, kw_only=True):
    """``run`` is the one that began; in a rehearsal there is none, and ``rehearsal`` tells the steps."""

    run: RunItem | None = None
    rehearsal: Rehearsal | None = None


def off(name: str) -> Refused:
    return Refused(f"{name} is off", hint=f"`visor config set workflow_modes {name}=ask` lets it run.")


async def run(world: ActingWorld, wanted: StartRun) -> StartedRun:
    pane = (await named(world, wanted.pane)).id
    if wanted.dry_run:
        told = await world.runs.rehearse(wanted.name, pane)
        return StartedRun(rehearsal=rehearsal(wanted.name, pane, told))
    if (info := workflow(world, wanted.name)).mode == "off":  # nobody is asked about what cannot be
        raise off(info.name)
    await world.door.do(RunWorkflow(workflow=wanted.name, pane=pane, is_forced=wanted.force), Terms())
    begun = await world.runs.begin(wanted.name, pane, world.door.actor, force=wanted.force)
    return StartedRun(run=run_item(begun, world.clock.now()))


def plain(started: StartedRun, look: Look) -> str:
    if started.rehearsal is not None:
        return rows(started.rehearsal, look)
    if started.run is None:
        return ""
    number = started.run.id
    if look.is_quiet:
        return str(number)
    return f"{headline(started.run)}\n`visor workflow history {number}` shows its steps"


OP = Op(
    name="workflow_run",
    summary="Start a workflow in a pane.",
    doc="""Without `--force` it starts only where something that it answers was seen lately, and once for each such
event. It waits for its turn: a pane has one run at a time. Every act of it is judged, and in the mode `ask` asked
about, whoever started it.""",
    Input=StartRun,
    Output=StartedRun,
    run=run,
    plain=plain,
    effect="change",
    exits=(
        (4, "There is no such workflow or pane."),
        (75, "Nothing that it answers was seen there, or that was answered already."),
        (77, "It is off, or the policy says no."),
    ),
    examples=(
        Example("workflow run handle_compaction 7", "answer what was seen there"),
        Example("workflow run handle_compaction 7 --force", "in any case"),
        Example("robot workflow run handle_compaction 7 --dry-run", "only show what it would do"),
    ),
)
