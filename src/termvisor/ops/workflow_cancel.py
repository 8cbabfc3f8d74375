"""The op `workflow_cancel`: end a run of a workflow now."""

from termvisor.model.workflow_info import RunChange
from termvisor.ops.base import Example, Op
from termvisor.ops.door import ActingWorld
from termvisor.ops.run_change import EXITS, ChangedRun, Reasoned, changed, plain


class CancelRun(Reasoned, frozen=True, kw_only=True):
    """Which run, and why."""


async def run(world: ActingWorld, wanted: CancelRun) -> ChangedRun:
    return await changed(world, wanted.run, RunChange(kind="cancel", word=wanted.why))


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
