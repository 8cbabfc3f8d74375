"""The op `workflow_pause`: hold a run where it is, until somebody lets it go on."""

from termvisor.model.workflow.info import RunChange
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.workflows._run_change import EXITS, ChangedRun, Reasoned, changed, plain


class PauseRun(Reasoned, frozen=True, kw_only=True):
    """Which run, and why."""


async def run(world: ActingWorld, wanted: PauseRun) -> ChangedRun:
    return await changed(world, wanted.run, RunChange(kind="pause", word=wanted.why))


OP = Op(
    name="workflow_pause",
    summary="Hold a run where it is, until somebody lets it go on.",
    doc="""Nothing more is done for it, also after a restart. Times and questions that it waits for go on: when they
are over, it finds that out after `visor workflow resume`.""",
    Input=PauseRun,
    Output=ChangedRun,
    run=run,
    plain=plain,
    effect="change",
    exits=EXITS,
    examples=(
        Example("workflow pause 3", "hold it"),
        Example("robot workflow pause 3 --why 'I am working there'", "and say why"),
    ),
)
