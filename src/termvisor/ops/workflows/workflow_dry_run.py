"""The op `workflow_dry_run`: what a workflow would do in a pane, and what would be said of it."""

from msgspec import Struct

from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.input._preconditions import PaneReference
from termvisor.ops.panes._listing import named
from termvisor.ops.workflows._dry_run_item import Rehearsal, rehearsal, rows
from termvisor.ops.workflows.workflow_show import WorkflowName


class DryRun(Struct, frozen=True, kw_only=True):
    """Which workflow, where."""

    name: WorkflowName
    pane: PaneReference


async def run(world: World, wanted: DryRun) -> Rehearsal:
    pane = await named(world, wanted.pane)
    return rehearsal(wanted.name, pane.id, await world.runs.rehearse(wanted.name, pane.id))


OP = Op(
    name="workflow_dry_run",
    summary="What a workflow would do in a pane, with each step's verdict.",
    doc="""It looks at the live pane, takes for granted what it waits for, and asks the policy about every act. `ask`
means that a person would be asked; `refused` says what in the pane speaks against the act right now.""",
    Input=DryRun,
    Output=Rehearsal,
    run=run,
    plain=rows,
    exits=((4, "There is no such workflow or pane."),),
    examples=(
        Example("workflow dry-run handle_compaction 7", "for people"),
        Example("robot workflow dry-run handle_compaction 7", "as JSON"),
    ),
)
