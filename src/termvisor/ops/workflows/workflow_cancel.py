"""The op `workflow_cancel`: end a run of a workflow now."""

from termvisor.model.workflow.info import RunChange
from termvisor.model.workflow.run import ENDED
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.render.text import Look
from termvisor.ops.workflows._run_change import EXITS, ChangedRun, Reasoned, changed
from termvisor.ops.workflows._run_change import plain as told


class CancelRun(Reasoned, frozen=True, kw_only=True):
    """Which run, and why."""


async def run(world: ActingWorld, wanted: CancelRun) -> ChangedRun:
    return await changed(world, wanted.run, RunChange(kind="cancel", word=wanted.why))


def plain(cancelled: ChangedRun, look: Look) -> str:
    """It ends once what it is doing has ended."""
    run = cancelled.run
    if look.is_quiet or run.status in ENDED:
        return told(cancelled, look)
    return f"run {run.id} ({run.workflow}) was told to end; `visor workflow history {run.id}` shows how it ends"


OP = Op(
    name="workflow_cancel",
    summary="End a run of a workflow now.",
    doc="""What it is doing right now is left as it is; its cleanup is done, once, and its event stays unhandled.
A run that was cancelled does not come back.""",
    Input=CancelRun,
    Output=ChangedRun,
    run=run,
    plain=plain,
    effect="change",
    exits=EXITS,
    examples=(
        Example("workflow cancel 3", "end it"),
        Example("robot workflow cancel 3 --why 'not today'", "and say why"),
    ),
)
